#include "core/compare/compare_plans.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/quantity_text.h"
#include "core/compare/device_changes.h"
#include "core/compare/group_changes.h"
#include "core/compare/sentence.h"
#include "core/compare/variable_changes.h"
#include "core/sim/explain/path_pieces.h"

namespace strato {
namespace {

std::string why_not(const Timeline& timeline) {
  const Cluster& cluster = *timeline.program->cluster;
  DeviceId worst;
  std::size_t others = 0;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const DeviceUse& use = timeline.devices[DeviceId(d)];
    if (use.fits()) continue;
    if (worst.valid()) ++others;
    const auto lacks = [&](DeviceId id) {
      return timeline.devices[id].peak - timeline.devices[id].capacity;
    };
    if (!worst.valid() || lacks(DeviceId(d)) > lacks(worst)) worst = DeviceId(d);
  }
  if (!worst.valid()) return {};
  const DeviceUse& use = timeline.devices[worst];
  const std::string text = fmt::format("{} needs {} of {}", cluster.device(worst).name,
                                       bytes_text(use.peak), bytes_text(use.capacity));
  return others == 0 ? text : fmt::format("{}, and {} more", text, others);
}

// Returns each op's place in the order that the priorities give, 0 for the first ones, so that
// other numbers in the same order compare equal. The ops are those that both models have.
std::vector<std::size_t> order_of(const std::vector<std::int32_t>& priorities,
                                  const std::vector<OpId>& ops) {
  std::vector<std::int32_t> wanted;
  for (const OpId op : ops) wanted.push_back(priorities[op.index()]);
  std::vector<std::int32_t> values = wanted;
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  std::vector<std::size_t> ranks;
  for (const std::int32_t value : wanted)
    ranks.push_back(
        static_cast<std::size_t>(std::ranges::lower_bound(values, value) - values.begin()));
  return ranks;
}

bool same_order(const Strategy& from, const Strategy& to, const OpMatch& match) {
  if (from.priorities.empty() || to.priorities.empty())
    return from.priorities.empty() == to.priorities.empty();
  std::vector<OpId> ops_from, ops_to;
  for (std::size_t i = 0; i < match.to_of_from.size(); ++i) {
    if (!match.to_of_from[OpId(i)].valid()) continue;
    ops_from.emplace_back(i);
    ops_to.push_back(match.to_of_from[OpId(i)]);
  }
  return order_of(from.priorities, ops_from) == order_of(to.priorities, ops_to);
}

// Collects the differences that describe_difference() finds beside the groups.
std::vector<std::string> other_changes(const PlanToCompare& from, const PlanToCompare& to,
                                       const OpMatch& match) {
  const auto bucket = [](Bytes bytes) {
    return bytes > Bytes(0) ? "up to " + bytes_text(bytes) : std::string("none");
  };
  const auto order = [](const Strategy& strategy) {
    return strategy.priorities.empty() ? "first in, first out" : "its own";
  };
  std::vector<std::string> lines;
  const Strategy &a = from.strategy, &b = to.strategy;
  if (a.bucket != b.bucket)
    lines.push_back(fmt::format("gradient buckets: {} -> {}", bucket(a.bucket), bucket(b.bucket)));
  if (!same_order(a, b, match))
    lines.push_back(a.priorities.empty() || b.priorities.empty()
                        ? fmt::format("execution order: {} -> {}", order(a), order(b))
                        : "execution order: another one");
  return lines;
}

}  // namespace

PlanFigures plan_figures(const PlanToCompare& plan) {
  const Timeline& timeline = *plan.outcome.timeline;
  PlanFigures figures;
  figures.label = plan.label;
  figures.model = plan.problem.graph->name();
  figures.cluster = plan.problem.cluster->name();
  figures.step_time = timeline.step_time;
  figures.batch = plan.problem.graph->batch();
  figures.fits = timeline.feasible;
  figures.why_not = why_not(timeline);
  return figures;
}

double PlanFigures::samples_per_second() const {
  return step_time > Nanos(0) ? static_cast<double>(batch) / to_seconds(step_time) : 0;
}

std::size_t PlanComparison::differing_groups() const {
  return static_cast<std::size_t>(std::ranges::count_if(groups, &GroupChange::differs));
}

std::size_t PlanComparison::differing_variables() const {
  return static_cast<std::size_t>(std::ranges::count_if(variables, &VariableChange::differs));
}

bool PlanComparison::same_decisions() const {
  return match.only_from.empty() && differing_groups() == 0 && differing_variables() == 0 &&
         others.empty();
}

PlanComparison compare_plans(const PlanToCompare& from, const PlanToCompare& to) {
  const Timeline &before = *from.outcome.timeline, &after = *to.outcome.timeline;
  const Pair<std::vector<PathPiece>> paths{path_pieces(before), path_pieces(after)};
  PlanComparison result;
  result.plans = {plan_figures(from), plan_figures(to)};
  result.same_cluster = from.problem.cluster->digest() == to.problem.cluster->digest();
  result.match = match_ops(*from.problem.graph, *to.problem.graph);
  result.causes = step_causes(before, paths.from, after, paths.to);
  result.groups = group_changes(from, to, result.match, paths);
  result.variables = variable_changes(from, to, result.match);
  result.others = other_changes(from, to, result.match);
  result.devices = device_changes(before, after);
  result.traffic = traffic_changes(before, after);
  result.links = links_changes(before, after);
  result.price = {plan_price(from), plan_price(to)};
  result.sentence = sentence_of(result);
  return result;
}

std::string signed_time_text(Nanos time) { return (time > Nanos(0) ? "+" : "") + time_text(time); }

std::string price_text(double dollars) { return "$" + significant_text(dollars); }

}  // namespace strato
