#include "core/search/constraints/constrained.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/search/tree/search_tree.h"

namespace strato {
namespace {

Decision adapted(const Decision& decision, const ConstraintRule& rule) {
  Decision result{decision.mode, {}};
  for (const DeviceShare& share : decision.devices)
    if (rule.allowed[share.device]) result.devices.push_back(share);
  if (result.devices.empty()) {  // all of it moves, spread as it was
    std::vector<DeviceId> allowed;
    for (std::size_t d = 0; d < rule.allowed.size(); ++d)
      if (rule.allowed[DeviceId(d)]) allowed.emplace_back(d);
    for (const DeviceShare& share : decision.devices)
      result.devices.push_back({allowed[share.device.index() % allowed.size()], share.weight});
    std::ranges::stable_sort(result.devices, {}, &DeviceShare::device);
    const auto same = std::ranges::unique(result.devices, {}, &DeviceShare::device);
    result.devices.erase(same.begin(), same.end());
  }
  if (!rule.modes[static_cast<std::size_t>(decision.mode)])  // the first mode is the next best
    result.mode = static_cast<Mode>(std::ranges::find(rule.modes, true) - rule.modes.begin());
  if (result.mode != decision.mode && !splits_batch(result.mode))
    for (DeviceShare& share : result.devices) share.weight = 1;
  return result;
}

class ConstraintRepair {
 public:
  ConstraintRepair(const Strategy& strategy, const Problem& problem, RepairDemands demands)
      : before_(strategy),
        before_grouping_(strategy.grouping ? *strategy.grouping : *problem.grouping),
        cluster_(*problem.cluster),
        demands_(std::move(demands)),
        grouping_(*demands_.grouping),
        rules_(demands_.rules),
        after_(strategy) {
    if (grouping_.digest() == before_grouping_.digest()) return;
    after_.grouping = demands_.grouping;
    after_.groups.clear();
    for (const OpGroup& group : grouping_.groups())
      after_.groups.push_back(before_.groups[before_grouping_.group_of(group.ops.front())]);
  }

  Strategy run() {
    for (const auto& groups : rules_.classes) wanted_.push_back(heaviest(groups));
    keep_limits();
    for (std::size_t c = 0; c < rules_.classes.size(); ++c) decide(c);
    std::erase_if(after_.splits, [&](const OpSplit& split) { return !may_stay(split); });
    std::erase_if(after_.variables,
                  [&](const VariableSync& variable) { return !may_stay(variable); });
    return std::move(after_);
  }

 private:
  // Groups that belong together want what most of their compute time wants.
  Decision heaviest(const std::vector<GroupId>& groups) const {
    if (groups.size() == 1) return *after_.groups[groups.front()];
    using DecisionTime = std::pair<Decision, Nanos>;
    std::vector<DecisionTime> times;
    for (const GroupId group : groups) {
      const Decision decision = reduced(*after_.groups[group]);
      auto known = std::ranges::find(times, decision, &DecisionTime::first);
      if (known == times.end()) known = times.insert(known, {decision, Nanos()});
      known->second += grouping_.group(group).compute_time;
    }
    return std::ranges::max_element(times, {}, &DecisionTime::second)->first;
  }

  // Keeps the devices that are used most, where such a choice is found soon: every strategy that a
  // search asks about comes by here.
  void keep_limits() {
    constexpr std::size_t kPatience = 2'000'000;
    const std::vector<DeviceLimit>& limits = demands_.limits;
    if (limits.empty()) return;
    const auto found = find_limit_devices(limits, by_use(), rules_.rules, kPatience).devices;
    keep_to(found ? *found : demands_.fallback, limits, rules_.rules);
    for (const ConstraintRule& rule : rules_.rules)
      CHECK(std::ranges::count(rule.allowed, 1) > 0, "limits that were found to be possible");
  }

  // Devices by how much time of the groups they have, most first; of those, faster ones.
  std::vector<DeviceId> by_use() const {
    IdVector<DeviceId, double> use(cluster_.device_count(), 0.0);
    DeviceMask touched(cluster_.device_count(), 0);
    for (std::size_t c = 0; c < wanted_.size(); ++c) {
      double time = 0, weights = 0;
      for (const GroupId group : rules_.classes[c])
        time += static_cast<double>(grouping_.group(group).compute_time.value);
      for (const DeviceShare& share : wanted_[c].devices) weights += share.weight;
      for (const DeviceShare& share : wanted_[c].devices)
        use[share.device] += time * share.weight / weights;
      mark_devices(wanted_[c].devices, touched);
    }
    for (const OpSplit& split : before_.splits) mark_devices(split.parts, touched);
    for (const VariableSync& variable : before_.variables) mark_devices(variable, touched);
    std::vector<DeviceId> devices;
    for (std::size_t d = 0; d < cluster_.device_count(); ++d) devices.emplace_back(d);
    const auto key = [&](DeviceId device) {
      const GpuType& gpu = cluster_.gpu(device);
      const double speed = *std::ranges::max_element(gpu.peak_flops);
      return std::tuple(static_cast<int>(touched[device]), use[device], speed);
    };
    std::ranges::stable_sort(devices, [&](DeviceId a, DeviceId b) { return key(a) > key(b); });
    return devices;
  }

  void decide(std::size_t number) {
    const ConstraintRule& rule = rules_.rules[at(rules_.rule_of[number])];
    if (rule.is_free()) return;
    const Decision decision = rule.pinned ? *rule.pinned : adapted(wanted_[number], rule);
    for (const GroupId group : rules_.classes[number]) after_.groups[group] = decision;
  }

  bool may_stay(const OpSplit& split) const {
    const ConstraintRule& rule = rules_.of(grouping_.group_of(split.op));
    return !rule.pinned && !rule.together && stays_within(split.parts, rule.allowed);
  }

  // A reduction sequence is one of the devices that its group had.
  bool may_stay(const VariableSync& variable) const {
    const ConstraintRule& rule = rules_.of(grouping_.group_of(variable.update));
    if (!stays_within(variable, rule.allowed, rule.modes)) return false;
    const auto& was = before_.groups[before_grouping_.group_of(variable.update)];
    const auto& now = after_.groups[grouping_.group_of(variable.update)];
    return was && now && reduced(*was) == reduced(*now);
  }

  const Strategy& before_;
  const Grouping& before_grouping_;
  const Cluster& cluster_;
  RepairDemands demands_;
  const Grouping& grouping_;  // of the result
  ConstraintRules& rules_;
  Strategy after_;
  std::vector<Decision> wanted_;  // by class
};

class RepairingObserver final : public Observer {
 public:
  RepairingObserver(Observer& inner, const BoundConstraints& constraints)
      : inner_(inner), constraints_(constraints) {}
  void on_progress(const Progress& progress) override { inner_.on_progress(progress); }
  void on_improvement(const Strategy& strategy, const Score& score,
                      const Progress& progress) override {
    inner_.on_improvement(constraints_.repaired(strategy), score, progress);
  }
  void on_tree(std::shared_ptr<const SearchTree> tree) override { inner_.on_tree(std::move(tree)); }

 private:
  Observer& inner_;
  const BoundConstraints& constraints_;
};

// The result as it is allowed, scored again; a fact tells what had to be changed.
void hold_to_constraints(PlanResult& result, const BoundConstraints& constraints,
                         const Problem& problem, Evaluator& evaluator) {
  Strategy kept = constraints.repaired(result.strategy);
  const Strategy found = complete(result.strategy, *problem.cluster);
  std::size_t ops = 0;
  const Problem before = problem_for(problem, found), after = problem_for(problem, kept);
  for (const OpId op : problem.graph->ops().ids())
    ops += found.groups[before.grouping->group_of(op)] != kept.groups[after.grouping->group_of(op)];
  result.facts.push_back({"constraints", ops == 0
                                             ? "kept by the planner's own result"
                                             : fmt::format("moved {} ops of its result", ops)});
  result.strategy = std::move(kept);
  result.score = evaluator.evaluate(result.strategy);
}

}  // namespace

Strategy repair(const Strategy& strategy, const Problem& problem, RepairDemands demands) {
  return ConstraintRepair(strategy, problem, std::move(demands)).run();
}

PlanResult plan_within(const BoundConstraints* constraints, Planner& planner,
                       const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  if (constraints == nullptr)
    return planner.plan(problem, evaluator, options, observer, std::move(stop), std::move(resume));
  const auto repaired = [&](const CompleteStrategy& strategy) {
    return constraints->violated(*strategy).empty()
               ? strategy
               : CompleteStrategy(constraints->repaired(*strategy), *problem.cluster);
  };
  ChangingEvaluator repairing(evaluator, repaired);
  RepairingObserver told(observer, *constraints);
  PlanResult result =
      planner.plan(problem, repairing, options, told, std::move(stop), std::move(resume));
  hold_to_constraints(result, *constraints, problem, evaluator);
  return result;
}

}  // namespace strato
