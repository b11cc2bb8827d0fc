#include "core/schedule/list/dpos.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {

constexpr std::size_t kCheckpoints = 16;

std::vector<DeviceId> devices_of(const Cluster& cluster, const DposOptions& options) {
  std::vector<DeviceId> devices = options.devices;
  if (devices.empty())
    for (std::size_t d = 0; d < cluster.device_count(); ++d) devices.emplace_back(d);
  return devices;
}

}  // namespace

Dpos::Dpos(const Dag& dag, const Cluster& cluster, const CostModel& cost,
           const DposOptions& options)
    : cluster_(cluster),
      options_(options),
      devices_(devices_of(cluster, options)),
      transfers_(cluster, cost),
      dag_(dag, transfers_),
      order_(dag_, transfers_, cluster, devices_, options.critical_path_device),
      placer_(dag_, transfers_, cluster, devices_, options.memory),
      placed_(dag_.size()) {
  run_and_keep(0);
}

// The state before the first node to be placed again: from the last checkpoint before it, with what
// was placed since.
PartialSchedule Dpos::resume(const Run& run, std::span<const PlacedNode> placed) const {
  const auto after =
      std::ranges::upper_bound(trace_.checkpoints, run.restart, {}, &Checkpoint::place);
  auto [place, state] = after == trace_.checkpoints.begin()
                            ? Checkpoint{0, placer_.nothing_placed()}
                            : *std::prev(after);
  auto choice = std::ranges::lower_bound(trace_.choices, place, {}, &Choice::place);
  for (; place < run.restart; ++place) {
    for (; choice != trace_.choices.end() && choice->place == place; ++choice)
      state.path_device = choice->device;
    const NodeIndex node = run.node(place);
    placer_.put(node, placed[at(node)], state);
  }
  return std::move(state);
}

// Fills `placed`, and adds to `trace` and `steps` unless they are null.
Dpos::Ran Dpos::run(const Run& run, std::vector<PlacedNode>& placed, Trace* trace,
                    std::vector<PlanningSteps::Step>* steps) const {
  PartialSchedule state = resume(run, placed);
  std::size_t on_path = 0;  // of the path's nodes: those before are placed
  const std::size_t stride = std::max<std::size_t>(64, run.end() / kCheckpoints + 1);
  std::vector<Nanos> ready;
  std::size_t place = run.restart;
  for (; place < run.end() && state.makespan < run.limit; ++place) {
    if (trace != nullptr && place > 0 && place % stride == 0 &&
        (trace->checkpoints.empty() || trace->checkpoints.back().place < place))
      trace->checkpoints.push_back({place, state});
    const NodeIndex node = run.node(place);
    std::span<const NodeIndex> remaining;
    if (options_.critical_path_device && order_.is_on_path(node)) {
      while (run.path[on_path] != node) ++on_path;
      remaining = run.path.subspan(on_path);
    }
    placer_.find_ready(node, placed, ready);
    const DposPlacer::Selection selection = placer_.select(node, remaining, ready, state);
    if (trace != nullptr && selection.chose_path_device)
      trace->choices.push_back({place, state.path_device, state.left, state.group_at});
    const PlacedNode there = placer_.at_earliest(node, selection.device, ready, state);
    placed[at(node)] = there;
    if (steps != nullptr) {
      PlanningSteps::Step step{node,          there.device, there.start, there.finish,
                               selection.why, {},           {}};
      if (selection.why != PlanningSteps::Why::Colocated)
        step.candidates = placer_.candidates(node, ready, state);
      steps->push_back(std::move(step));
    }
    placer_.put(node, there, state);
  }
  return {std::move(state), place - run.restart};
}

// Everything from here on, by the order as it is.
void Dpos::run_and_keep(std::size_t restart) {
  std::erase_if(trace_.choices, [&](const Choice& choice) { return choice.place >= restart; });
  std::erase_if(trace_.checkpoints, [&](const Checkpoint& point) { return point.place > restart; });
  const Run all{.tail = order(), .path = critical_path(), .restart = restart};
  result_ = run(all, placed_, &trace_, nullptr).schedule;
}

OrderRevision Dpos::revise(const DagEdit& edit) {
  std::vector<NodeIndex> touched;
  const std::size_t old_size = dag_.size();
  dag_.apply(edit, touched);
  placed_.resize(dag_.size());
  OrderRevision revision = order_.revise(edit, old_size, std::move(touched));
  limit_restart(edit, revision);
  return revision;
}

// The schedule also changes where the path's device was chosen for other nodes, and where a node
// was the first of its group, which takes memory for all of it.
void Dpos::limit_restart(const DagEdit& edit, OrderRevision& revision) const {
  for (const Choice& choice : trace_.choices) {
    if (choice.place >= revision.restart) break;
    const auto first = std::ranges::find(revision.path, order()[choice.place]);
    const std::span<const NodeIndex> remaining(first, revision.path.end());
    if (placer_.choose_path_device(remaining, choice.left, choice.group_at) == choice.device)
      continue;
    revision.restart = choice.place;
    break;
  }
  for (const NodeIndex node : edit.removed) {
    const std::int32_t group = dag_.colocation(node);
    if (group < 0) continue;
    const auto before = order().first(revision.restart);
    const auto first =
        std::ranges::find(before, group, [&](NodeIndex member) { return dag_.colocation(member); });
    revision.restart = static_cast<std::size_t>(first - before.begin());
  }
}

Dpos::EditedSchedule Dpos::trial(const DagEdit& edit, Nanos limit) {
  const OrderRevision revision = revise(edit);
  trial_placed_ = placed_;
  const Run again{order().first(revision.place), revision.tail, revision.path, revision.restart,
                  limit};
  const Ran ran = run(again, trial_placed_, nullptr, nullptr);
  order_.discard(revision);
  dag_.undo();
  placed_.resize(revision.old_size);
  return {ran.schedule.makespan, ran.schedule.fits, revision.ranked, ran.placed};
}

void Dpos::take(const DagEdit& edit) {
  OrderRevision revision = revise(edit);
  const std::size_t restart = revision.restart;
  order_.take(std::move(revision));
  run_and_keep(restart);
}

// Places everything once more and keeps nothing else of it.
std::vector<PlanningSteps::Step> Dpos::steps() const {
  std::vector<PlanningSteps::Step> steps;
  std::vector<PlacedNode> placed(dag_.size());
  run({.tail = order(), .path = critical_path()}, placed, nullptr, &steps);
  return steps;
}

}  // namespace strato
