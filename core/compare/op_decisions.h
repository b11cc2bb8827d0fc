// Describes what two plans decide for each op, in words that are the same where the decisions are.
// They may be of other clusters, groups or models. Values; safe from any thread.
#pragma once

#include <map>
#include <string>
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

}  // namespace strato
