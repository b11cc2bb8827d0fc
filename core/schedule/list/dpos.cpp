#include "core/schedule/list/dpos.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato {
namespace {

constexpr std::size_t kCheckpoints = 16;

}  // namespace

Dpos::Dpos(const Dag& dag, const Cluster& cluster, const CostModel& cost,
           const DposOptions& options)
    : cluster_(cluster),
      options_(options),
      devices_(options.devices),
      transfers_(cluster, cost),
      dag_(dag, transfers_) {
  if (devices_.empty())
    for (std::size_t d = 0; d < cluster.device_count(); ++d) devices_.emplace_back(d);
  ready_.resize(cluster.device_count());
  grow();
  rank_all();
  order_.resize(dag_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, std::greater(), [&](NodeIndex node) { return rank(node); });
  for (std::size_t i = 0; i < order_.size(); ++i)
    place_[at(order_[i])] = static_cast<std::int32_t>(i);
  if (!order_.empty()) path_ = path_from(order_.front());
  for (const NodeIndex node : path_) on_path_[at(node)] = 1;
  std::size_t count = 0;
  Run all;
  all.tail = order_;
  all.path = path_;
  all.keep = true;
  last_ = run(all, placed_, count);
}

Dpos::State Dpos::empty_state() const {
  State state;
  state.idle.resize(cluster_.device_count());
  for (std::size_t d = 0; d < cluster_.device_count(); ++d)
    state.left.push_back(Bytes(static_cast<std::int64_t>(
        static_cast<double>(cluster_.gpu(DeviceId(d)).memory.value) * options_.memory)));
  state.group_at.resize(dag_.group_count());
  return state;
}

void Dpos::grow() {
  rank_.resize(dag_.size());
  old_rank_.resize(dag_.size());
  changed_.resize(dag_.size());
  on_path_.resize(dag_.size());
  place_.resize(dag_.size(), -1);
  placed_.resize(dag_.size());
}

Nanos Dpos::longest_time(NodeIndex node) const {
  Nanos longest;
  for (const DeviceId device : devices_) longest = std::max(longest, time(node, device));
  return longest;
}

Nanos Dpos::rank_from_successors(NodeIndex node) const {
  Nanos most;
  for (const EditableDag::Half& half : dag_.successors(node))
    most = std::max(most, transfers_.longest(half.row) + rank(half.node));
  return longest_time(node) + most;
}

void Dpos::rank_all() {
  for (std::size_t i = dag_.size(); i-- > 0;)
    rank_[i] = old_rank_[i] = rank_from_successors(static_cast<NodeIndex>(i));
}

std::vector<NodeIndex> Dpos::path_from(NodeIndex entry) const {
  std::vector<NodeIndex> path;
  for (NodeIndex node = entry; node >= 0;) {
    path.push_back(node);
    NodeIndex next = -1;
    for (const EditableDag::Half& half : dag_.successors(node))
      if (next < 0 || before(half.node, rank(half.node), next, rank(next))) next = half.node;
    node = next;
  }
  return path;
}

// --- Placing ---

// Returns the bytes that have to be free on a device for the node; none where its group already has
// its memory.
Bytes Dpos::need(NodeIndex node, const std::vector<DeviceId>& group_at) const {
  const std::int32_t group = dag_.colocation(node);
  if (group < 0) return dag_.memory(node);
  return group_at[static_cast<std::size_t>(group)].valid() ? Bytes() : dag_.group_memory(group);
}

DeviceId Dpos::choose_path_device(std::span<const NodeIndex> remaining, const State& state) const {
  DeviceId best;
  unsigned __int128 best_sum = 0, best_count = 1;
  std::vector<std::int32_t> groups;  // that are simulated to be there
  for (const DeviceId device : devices_) {
    Bytes left = state.left[device.index()];
    unsigned __int128 sum = 0, count = 0;
    groups.clear();
    for (const NodeIndex node : remaining) {
      const std::int32_t group = dag_.colocation(node);
      if (group >= 0) {
        const DeviceId demanded = state.group_at[static_cast<std::size_t>(group)];
        if (demanded.valid() && demanded != device) continue;
        if (demanded.valid() || std::ranges::find(groups, group) != groups.end()) {
          sum += static_cast<std::uint64_t>(time(node, device).value);
          ++count;
          continue;
        }
      }
      const Bytes bytes = need(node, state.group_at);
      if (bytes > left) break;
      left -= bytes;
      if (group >= 0) groups.push_back(group);
      sum += static_cast<std::uint64_t>(time(node, device).value);
      ++count;
    }
    if (count == 0) continue;
    if (best.valid() && sum * best_count >= best_sum * count) continue;
    best = device;
    best_sum = sum;
    best_count = count;
  }
  return best;
}

DeviceId Dpos::emptiest(const State& state) const {
  return *std::ranges::max_element(devices_, {},
                                   [&](DeviceId device) { return state.left[device.index()]; });
}

// Finds when all inputs of the node are on each device.
void Dpos::find_ready(NodeIndex node, std::span<const Placed> placed) {
  for (const DeviceId device : devices_) ready_[device.index()] = {};
  for (const EditableDag::Half& half : dag_.predecessors(node)) {
    const Placed& from = placed[at(half.node)];
    const Nanos* times = transfers_.times_of(half.row);
    const std::uint16_t* kinds = transfers_.class_of(from.device);
    for (const DeviceId device : devices_) {
      Nanos& ready = ready_[device.index()];
      ready = std::max(ready, from.finish + times[kinds[device.index()]]);
    }
  }
}

DeviceId Dpos::earliest_finish(NodeIndex node, const State& state) const {
  const Bytes bytes = need(node, state.group_at);
  DeviceId best;
  Nanos least;
  for (const DeviceId device : devices_) {
    if (bytes > state.left[device.index()]) continue;
    const Nanos duration = time(node, device);
    if (best.valid() && ready_[device.index()] + duration >= least) continue;
    const Nanos finish =
        state.idle[device.index()].earliest(ready_[device.index()], duration) + duration;
    if (best.valid() && finish >= least) continue;
    best = device;
    least = finish;
  }
  return best;
}

DeviceId Dpos::select(NodeIndex node, std::span<const NodeIndex> remaining, std::size_t place,
                      State& state, const Run& run, PlanningSteps::Why& why) {
  const std::int32_t group = dag_.colocation(node);
  if (group >= 0 && state.group_at[static_cast<std::size_t>(group)].valid()) {
    why = PlanningSteps::Why::Colocated;
    return state.group_at[static_cast<std::size_t>(group)];
  }
  const Bytes bytes = need(node, state.group_at);
  DeviceId device;
  if (!remaining.empty()) {
    why = PlanningSteps::Why::CriticalPath;
    if (!state.path_device.valid() || bytes > state.left[state.path_device.index()]) {
      const DeviceId next = choose_path_device(remaining, state);
      if (next.valid()) {
        state.path_device = next;
        if (run.keep) choices_.push_back({place, next, state.left, state.group_at});
      }
    }
    if (state.path_device.valid() && bytes <= state.left[state.path_device.index()])
      device = state.path_device;
  } else {
    why = PlanningSteps::Why::EarliestFinish;
    device = earliest_finish(node, state);
  }
  if (device.valid()) return device;
  why = PlanningSteps::Why::BestEffort;
  return emptiest(state);
}

void Dpos::put(NodeIndex node, State& state, const Placed& placed) const {
  const std::int32_t group = dag_.colocation(node);
  const Bytes bytes = need(node, state.group_at);
  Bytes& left = state.left[placed.device.index()];
  state.fits = state.fits && bytes <= left;
  left -= bytes;
  if (group >= 0) state.group_at[static_cast<std::size_t>(group)] = placed.device;
  state.idle[placed.device.index()].occupy(placed.start, placed.finish - placed.start);
  state.makespan = std::max(state.makespan, placed.finish);
}

// The state before the first node to be placed again: from the last checkpoint before it, with what
// was placed since.
Dpos::State Dpos::resume(const Run& run, std::span<const Placed> placed) const {
  State state;
  std::size_t place = 0;
  const auto known = std::ranges::upper_bound(checkpoints_, run.restart, {}, &Checkpoint::place);
  if (known == checkpoints_.begin()) {
    state = empty_state();
  } else {
    state = std::prev(known)->state;
    place = std::prev(known)->place;
  }
  auto choice = std::ranges::lower_bound(choices_, place, {}, &Choice::place);
  for (; place < run.restart; ++place) {
    for (; choice != choices_.end() && choice->place == place; ++choice)
      state.path_device = choice->device;
    const NodeIndex node = node_at(run, place);
    put(node, state, placed[at(node)]);
  }
  return state;
}

Dpos::State Dpos::run(const Run& run, std::vector<Placed>& placed, std::size_t& count) {
  if (run.keep) {
    std::erase_if(choices_, [&](const Choice& choice) { return choice.place >= run.restart; });
    std::erase_if(checkpoints_, [&](const Checkpoint& point) { return point.place > run.restart; });
  }
  State state = resume(run, placed);
  std::size_t on_path = 0;  // of the path's nodes: those before are placed
  const std::size_t stride = std::max<std::size_t>(64, run.end() / kCheckpoints + 1);
  for (std::size_t place = run.restart; place < run.end() && state.makespan < run.limit; ++place) {
    const bool is_known = !checkpoints_.empty() && checkpoints_.back().place >= place;
    if (run.keep && place > 0 && place % stride == 0 && !is_known)
      checkpoints_.push_back({place, state});
    const NodeIndex node = node_at(run, place);
    std::span<const NodeIndex> remaining;
    if (options_.critical_path_device && on_path_[at(node)]) {
      while (run.path[on_path] != node) ++on_path;
      remaining = run.path.subspan(on_path);
    }
    find_ready(node, placed);
    PlanningSteps::Why why;
    const DeviceId device = select(node, remaining, place, state, run, why);
    const Nanos duration = time(node, device);
    const Nanos start = state.idle[device.index()].earliest(ready_[device.index()], duration);
    placed[at(node)] = {start, start + duration, device};
    if (run.steps) record(node, state, why, placed[at(node)], *run.steps);
    put(node, state, placed[at(node)]);
    ++count;
  }
  return state;
}

// --- Results ---

void Dpos::record(NodeIndex node, const State& state, PlanningSteps::Why why, const Placed& placed,
                  std::vector<PlanningSteps::Step>& steps) const {
  PlanningSteps::Step step;
  step.node = node;
  step.device = placed.device;
  step.start = placed.start;
  step.finish = placed.finish;
  step.why = why;
  const Bytes bytes = need(node, state.group_at);
  if (why != PlanningSteps::Why::Colocated)
    for (const DeviceId device : devices_) {
      const Nanos duration = time(node, device);
      const Nanos start = state.idle[device.index()].earliest(ready_[device.index()], duration);
      step.candidates.push_back(
          {device, start, start + duration, bytes <= state.left[device.index()]});
    }
  steps.push_back(std::move(step));
}

// Places everything once more and keeps nothing else of it.
std::vector<PlanningSteps::Step> Dpos::steps() {
  std::vector<PlanningSteps::Step> steps;
  std::vector<Placed> placed(dag_.size());
  Run all;
  all.tail = order_;
  all.path = path_;
  all.steps = &steps;
  std::size_t count = 0;
  run(all, placed, count);
  return steps;
}

Schedule Dpos::schedule() const {
  std::vector<NodeIndex> alive;
  for (std::size_t i = 0; i < dag_.size(); ++i)
    if (dag_.has(static_cast<NodeIndex>(i))) alive.push_back(static_cast<NodeIndex>(i));
  std::ranges::sort(alive, {}, [&](NodeIndex node) { return dag_.key(node); });
  Schedule schedule;
  schedule.memory.resize(cluster_.device_count());
  for (const NodeIndex node : alive) {
    schedule.device.push_back(device(node));
    schedule.start.push_back(start(node));
    schedule.finish.push_back(finish(node));
    schedule.memory[device(node).index()] += dag_.memory(node);
  }
  schedule.makespan = makespan();
  schedule.fits = true;
  for (std::size_t d = 0; d < schedule.memory.size(); ++d)
    schedule.fits = schedule.fits && schedule.memory[d] <= cluster_.gpu(DeviceId(d)).memory;
  return schedule;
}

}  // namespace strato
