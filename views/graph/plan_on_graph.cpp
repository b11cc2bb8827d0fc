#include "views/graph/plan_on_graph.h"

#include <algorithm>
#include <map>

namespace strato {
namespace {

std::shared_ptr<const OpFigures> on_graph(OpFigures own, const OpMatch& match) {
  if (match.same_graph) return std::make_shared<const OpFigures>(std::move(own));
  OpFigures moved;
  for (const OpId from : match.from_of_to) {
    const auto of = [&](const auto& all) { return from.valid() ? all[from] : 0; };
    moved.compute.push_back(of(own.compute));
    moved.communication.push_back(of(own.communication));
    moved.memory.push_back(of(own.memory));
    moved.blame.push_back(of(own.blame));
    moved.critical.push_back(of(own.critical));
    moved.longest.push_back(of(own.longest));
    moved.devices.push_back(from.valid() ? std::move(own.devices[from]) : std::vector<DeviceId>());
  }
  for (const OpId op : own.path) {
    if (match.to_of_from[op].valid()) moved.path.push_back(match.to_of_from[op]);
  }
  return std::make_shared<const OpFigures>(std::move(moved));
}

const std::optional<Decision>& decision_of(OpId other, const OtherPlan& plan) {
  return plan.strategy.groups[plan.problem->grouping->group_of(other)];
}

}  // namespace

bool PlanOnGraph::differs(OpId op) const {
  return !other(op).valid() || decisions.of.from[other(op)] != decisions.of.to[op];
}

std::shared_ptr<const PlanOnGraph> plan_on_graph(const std::shared_ptr<const Problem>& shown,
                                                 const Strategy& strategy,
                                                 const std::shared_ptr<const OtherPlan>& plan,
                                                 const PlanOnGraph* known) {
  auto result = std::make_shared<PlanOnGraph>();
  result->shown = shown;
  result->plan = plan;
  const bool same_graphs =
      known && known->is_of(*shown) && known->plan->problem->graph == plan->problem->graph;
  result->match =
      same_graphs
          ? known->match
          : std::make_shared<const OpMatch>(match_ops(*plan->problem->graph, *shown->graph));
  result->figures = same_graphs && known->plan->outcome == plan->outcome
                        ? known->figures
                        : on_graph(figures_of(*plan->outcome), *result->match);
  result->decisions = op_decisions(*plan->problem, plan->strategy, *shown, strategy);
  result->missing = result->match->only_to.size();
  return result;
}

std::size_t differing(std::span<const OpId> ops, const PlanOnGraph& plan) {
  return static_cast<std::size_t>(
      std::ranges::count_if(ops, [&](OpId op) { return plan.differs(op); }));
}

Pair<std::string> words_for(std::span<const OpId> ops, const PlanOnGraph& plan) {
  std::map<int, std::size_t> from, to;
  for (const OpId op : ops) {
    ++to[plan.decisions.of.to[op]];
    if (const OpId other = plan.other(op); other.valid()) ++from[plan.decisions.of.from[other]];
  }
  return {composition(from, plan.decisions.texts), composition(to, plan.decisions.texts)};
}

std::vector<PlacementStripe> stripes_of(std::span<const OpId> ops, const PlanOnGraph& plan) {
  const Cluster& cluster = *plan.plan->problem->cluster;
  const Grouping& grouping = *plan.plan->problem->grouping;
  std::map<DeviceGroupId, double> sums;
  std::map<GroupId, std::size_t> counts;  // of ops that are where their group is
  GroupId last;                           // neighbours are mostly of one group
  std::size_t* count = nullptr;
  double whole = 0;
  for (const OpId op : ops) {
    const OpId other = plan.other(op);
    if (!other.valid() || !decision_of(other, *plan.plan)) continue;
    ++whole;
    const std::vector<DeviceId>& devices = plan.figures->devices[op];
    if (decision_of(other, *plan.plan)->mode != Mode::ModelParallel || devices.empty()) {
      const GroupId group = grouping.group_of(other);
      if (group != last || !count) count = &counts[last = group];
      ++*count;
      continue;
    }
    for (const DeviceId device : devices)
      sums[cluster.device(device).group] += 1.0 / static_cast<double>(devices.size());
  }
  for (const auto& [group, count] : counts) {
    for (const PlacementStripe& part : stripes_of(*plan.plan->strategy.groups[group], cluster))
      sums[part.device_group] += part.share * static_cast<double>(count);
  }
  std::vector<PlacementStripe> stripes;
  for (const auto& [group, sum] : sums) stripes.push_back({group, sum / whole});
  return stripes;
}

QString mode_of(std::span<const OpId> ops, const PlanOnGraph& plan) {
  std::optional<Mode> mode;
  for (const OpId op : ops) {
    const OpId other = plan.other(op);
    if (!other.valid() || !decision_of(other, *plan.plan)) continue;
    const Mode own = decision_of(other, *plan.plan)->mode;
    if (mode && *mode != own) return {};
    mode = own;
  }
  return mode ? QString::fromUtf8(label_of(*mode).data()) : QString();
}

}  // namespace strato
