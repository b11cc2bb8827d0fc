#include "core/search/strategy_bounds.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

// Strategies times ops times devices: about a second of lowering, and what nobody waits for.
constexpr double kLittleWork = 2e7, kMostWork = 2e8;
// Strategies to lower for one that is evaluated.
constexpr double kPerEvaluation = 10;

double strategy_count(std::span<const std::vector<std::int32_t>> legal) {
  double count = 1;
  for (const auto& actions : legal) count *= static_cast<double>(actions.size());
  return count;
}

Nanos bound_of(const Program& program, std::vector<Nanos>& ends, std::vector<Nanos>& busy) {
  ends.assign(program.tasks.size(), Nanos(0));
  busy.assign(program.resource_count(), Nanos(0));
  Nanos bound;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (const TaskId before : program.dependencies[i])
      ends[i] = std::max(ends[i], ends[before.index()]);
    const Nanos duration = program.tasks[TaskId(i)].duration;
    bound = std::max(bound, ends[i] += duration);
    for (const ResourceId resource : program.resources[i])
      bound = std::max(bound, busy[resource.index()] += duration);
  }
  return bound;
}

}  // namespace

LoadBound::LoadBound(const Problem& problem, std::vector<Decision> actions)
    : tables_(problem.graph, problem.grouping, problem.cluster, problem.cost),
      actions_(std::move(actions)),
      loads_(problem.grouping->size() * actions_.size()),
      sums_(problem.cluster->device_count()) {}

std::int64_t LoadBound::time(OpId op, DeviceId device, std::int64_t samples) {
  const GpuTypeId gpu = tables_.cluster->device(device).type;
  return tables_.op_time(tables_.column(gpu, static_cast<std::int32_t>(samples)), op).value;
}

std::vector<LoadBound::Load> LoadBound::make_loads(GroupId group, const Decision& decision) {
  const std::vector<OpId>& ops = tables_.grouping->group(group).ops;
  const auto& devices = decision.devices;
  const std::int64_t batch = tables_.batch;
  std::vector<Load> loads;
  for (const DeviceShare& share : devices)
    loads.push_back({static_cast<std::uint32_t>(share.device.index()), 0});
  const bool one = devices.size() == 1;
  const bool parts = !one && decision.mode == Mode::ModelParallel;
  const bool replicates = !parts && decision.mode != Mode::Duplicate;
  const bool served = !one && decision.mode == Mode::ReplicatePs;
  const auto part_of =
      parts ? tables_.parts(group, static_cast<int>(devices.size())) : std::span<const std::int32_t>();
  const std::vector<std::int64_t> samples = replicates
                                                ? apportion(batch, devices)
                                                : std::vector<std::int64_t>(devices.size(), batch);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpFacts& facts = tables_.ops[ops[i]];
    if (facts.alias || (served && facts.kind == TaskKind::Update)) continue;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if (samples[d] == 0 || (parts && static_cast<std::size_t>(part_of[i]) != d)) continue;
      std::int64_t least = time(ops[i], devices[d].device, batch);
      if (facts.splittable && samples[d] < batch)
        least = std::min(least, time(ops[i], devices[d].device, samples[d]));
      loads[d].nanos += least;
    }
  }
  return loads;
}

const std::vector<LoadBound::Load>& LoadBound::loads(std::size_t group, std::int32_t action) {
  const auto at = static_cast<std::size_t>(action);
  std::vector<Load>& known = loads_[group * actions_.size() + at];
  if (known.empty()) known = make_loads(GroupId(group), actions_[at]);
  return known;
}

Nanos LoadBound::of(const ActionVector& actions) {
  std::ranges::fill(sums_, 0);
  for (std::size_t group = 0; group < actions.size(); ++group)
    for (const Load& load : loads(group, actions[group])) sums_[load.device] += load.nanos;
  return Nanos(std::ranges::max(sums_));
}

bool SmallSpace::is_small(const Problem& problem,
                          std::span<const std::vector<std::int32_t>> legal,
                          std::int64_t evaluations) {
  const auto tasks =
      static_cast<double>(problem.graph->op_count() * problem.cluster->device_count());
  const double count = strategy_count(legal);
  const bool asked_for = count <= kPerEvaluation * static_cast<double>(evaluations + 1);
  return count * tasks <= (asked_for ? kMostWork : kLittleWork);
}

SmallSpace::SmallSpace(const Problem& problem, const std::vector<Decision>& actions,
                       std::vector<std::vector<std::int32_t>> legal)
    : legal_(std::move(legal)) {
  ranked_.resize(static_cast<std::size_t>(strategy_count(legal_)));
  for (std::size_t i = 0; i < ranked_.size(); ++i) ranked_[i].second = static_cast<std::uint32_t>(i);
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  Program program;
  std::vector<Nanos> ends, busy;
  Strategy strategy;
  strategy.groups.resize(legal_.size());
  for (std::size_t i = 0; i < ranked_.size(); ++i) {
    const ActionVector chosen = this->strategy(i);
    for (std::size_t g = 0; g < chosen.size(); ++g)
      strategy.groups[GroupId(g)] = actions[static_cast<std::size_t>(chosen[g])];
    lowering.lower(strategy, program);
    ranked_[i].first = bound_of(program, ends, busy);
  }
  std::ranges::sort(ranked_);
}

ActionVector SmallSpace::strategy(std::size_t place) const {
  std::size_t rest = ranked_[place].second;
  ActionVector actions;
  for (const auto& legal : legal_) {
    actions.push_back(legal[rest % legal.size()]);
    rest /= legal.size();
  }
  return actions;
}

}  // namespace strato
