// What two plans decide otherwise for ops, op groups and variables, in words that are the same
// where the decisions are, how their steps use devices and links, why they take the time that they
// take, and what a plan costs in money. Values; safe from any thread.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/compare_plans.h"

namespace strato {

struct OpDecisions {
  std::vector<std::string> texts;  // "AllReduce on v100"
  Pair<IdVector<OpId, int>> of;    // by op of the plan's own graph: which of the texts
};
OpDecisions op_decisions(const Problem& from_problem, const Strategy& from,
                         const Problem& to_problem, const Strategy& to);

// Says in words how many ops have each text: "AllReduce on v100", or "AllReduce on v100 (12 of 14
// ops); on v100:0 (2)", the most frequent first; "-": none.
std::string composition(const std::map<int, std::size_t>& counts,
                        const std::vector<std::string>& texts);

std::vector<GroupChange> group_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match,
                                       const Pair<std::vector<PathPiece>>& paths);
std::vector<VariableChange> variable_changes(const PlanToCompare& from, const PlanToCompare& to,
                                             const OpMatch& match);
std::vector<DeviceChange> device_changes(const Timeline& from, const Timeline& to);
std::vector<TrafficChange> traffic_changes(const Timeline& from, const Timeline& to);
std::vector<LinksChange> links_changes(const Timeline& from, const Timeline& to);
std::optional<PlanPrice> plan_price(const PlanToCompare& plan);

// Explains the difference of two step times cause by cause: the critical paths of two timelines,
// each cut into reasons that add up to its step time (core/sim/explain/path_pieces.h), side by
// side. Largest change first, whatever its sign; causes that take the same time in both are last.
// All `from` add up to the first step time, all `to` to the second.
std::vector<Cause> step_causes(const Timeline& from, const std::vector<PathPiece>& from_path,
                               const Timeline& to, const std::vector<PathPiece>& to_path);

// The rows that a map has gathered, those of the largest `measure` first.
template <class Rows, class Measure>
auto largest_first(const Rows& found, Measure measure) {
  std::vector<typename Rows::mapped_type> rows;
  for (const auto& [key, row] : found) rows.push_back(row);
  std::ranges::stable_sort(rows, std::greater(), measure);
  return rows;
}

std::string_view words_for(TensorRole role);  // "gradients", "parameters", "activations"

}  // namespace strato
