#include "core/sim/engine/simulation_engine.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace strato {
namespace {

void keep_checkpoint(TaskSchedule& schedule, std::size_t taken) {
  const std::vector<ResourceUse>& now = schedule.resources;
  const std::size_t at = taken / TaskSchedule::kStride * now.size();
  std::copy(now.begin(), now.end(), schedule.checkpoints.begin() + static_cast<std::ptrdiff_t>(at));
}

// First in, first out on exclusive resources, as list scheduling.
//
// Claim: when all priorities are equal, the semantics of simulate.h give the schedule that one pass
// over the tasks in ascending (ready, id) gives, in which a task starts at the latest of its ready
// time and the ends of the last tasks on its resources before it.
// Proof: Queues are ordered by (ready, id), and a task is in all its queues from the moment at
// which it is ready. A task that becomes ready later has a larger key, so it is behind in every
// queue and cannot start before. So task t starts as soon as it is ready, all tasks with smaller
// keys that share a resource with it have started (t is first in its queues) and the last of them
// on each resource has ended (its resources are free), in which the order of the smaller keys on
// each resource is their order in the pass; by induction over the keys their times are those of
// the pass. A task's key is known when its last dependency is processed, and is larger than that
// dependency's key since no task takes zero time: one heap gives the order.
//
// So there are no queues, and a task costs one heap operation. What is taken does not depend on
// what comes later: a run can begin at any checkpoint.
//
// `Key` holds the longest ready time and, in its lowest bits, a place.
template <class Key>
class FifoDiscipline {
 public:
  // Goes on where `schedule` stands: its resources, and its order, which has room for all tasks and
  // the first `taken` of them.
  FifoDiscipline(PendingTasks& tasks, KeyHeap<Key>& heap, TaskSchedule& schedule, std::size_t taken)
      : tasks_(tasks), heap_(heap), schedule_(schedule), taken_(taken) {
    heap_.clear();
  }

  void ready(std::size_t place) {
    const Key key = static_cast<Key>(tasks_[place].ready) << bits_ | place;
    top_ended_ ? heap_.replace_top(key) : heap_.push(key);
    top_ended_ = false;
  }

  Ended next() {
    if (top_ended_) heap_.pop();
    top_ended_ = !heap_.empty();
    if (keeps_checkpoints_ && taken_ % TaskSchedule::kStride == 0)
      keep_checkpoint(schedule_, taken_);
    if (!top_ended_) return {};
    const auto place = static_cast<std::size_t>(heap_.top() & mask_);
    PendingTasks::Node& node = tasks_[place];
    order_[taken_++] = {static_cast<std::int32_t>(place), node.stream};
    return {static_cast<std::int32_t>(place), take(place, node)};
  }

 private:
  // Starts the task when all its resources are free, and takes them; returns its end.
  std::int64_t take(std::size_t place, PendingTasks::Node& node) {
    if (are_issued_) wait_for_processes(place, node);
    if (node.stream >= 0) {
      ResourceUse& stream = resources_[static_cast<std::size_t>(node.stream)];
      node.start = std::max(node.ready, stream.free);
      stream.busy += node.duration;
      return stream.free = node.start + node.duration;
    }
    const auto needed = tasks_.resources(place);
    node.start = node.ready;
    for (const ResourceId id : needed)
      node.start = std::max(node.start, resources_[id.index()].free);
    for (const ResourceId id : needed) {
      ResourceUse& resource = resources_[id.index()];
      resource.free = node.start + node.duration;
      resource.busy += node.duration;
    }
    return node.start + node.duration;
  }

  // What it takes is longer by what it waits for those that start it.
  void wait_for_processes(std::size_t place, PendingTasks::Node& node) {
    std::int64_t start = node.ready, issued = 0;
    for (const ResourceId id : tasks_.resources(place)) {
      start = std::max(start, resources_[id.index()].free);
      if (!tasks_.is_stream(id)) continue;
      std::int64_t& process = resources_[id.index() - id.index() % kStreams].issued;
      issued = std::max(issued, process = node.issued_by(process));
    }
    node.duration += std::max<std::int64_t>(0, issued - start);
  }

  PendingTasks& tasks_;
  KeyHeap<Key>& heap_;
  TaskSchedule& schedule_;
  TaskSchedule::Taken* const order_ = schedule_.order.data();
  ResourceUse* const resources_ = schedule_.resources.data();
  const bool keeps_checkpoints_ = schedule_.keeps_checkpoints;
  const bool are_issued_ = tasks_.are_issued();
  std::size_t taken_;
  const int bits_ = std::bit_width(tasks_.size());
  const Key mask_ = (Key{1} << bits_) - 1;
  bool top_ended_ = false;  // its key is to be replaced or removed
};

TaskTimes times_of(const PendingTasks::Node& node) {
  return {Nanos(node.ready), Nanos(node.start), Nanos(node.start + node.duration)};
}

void take_times(const PendingTasks& tasks, TaskSchedule& schedule) {
  schedule.times.resize(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) schedule.times[TaskId(i)] = times_of(tasks[i]);
}

std::int64_t last_end(const TaskSchedule& schedule) {
  std::int64_t last = 0;
  for (const ResourceUse& resource : schedule.resources) last = std::max(last, resource.free);
  return last;
}

}  // namespace

void SimulationEngine::run_fifo(std::size_t taken, TaskSchedule& schedule) {
  schedule.order.resize(taken + tasks_.size());
  if (schedule.keeps_checkpoints)
    schedule.checkpoints.resize((schedule.order.size() / TaskSchedule::kStride + 1) *
                                schedule.resources.size());
  std::int64_t longest;  // no task is ready later
  if (__builtin_add_overflow(last_end(schedule), tasks_.duration(), &longest))
    longest = Nanos::max().value;
  const auto bits = std::bit_width(static_cast<std::uint64_t>(longest));
  if (bits + std::bit_width(tasks_.size()) < 64) {
    FifoDiscipline fifo(tasks_, short_heap_, schedule, taken);
    run_events(tasks_, fifo);
  } else {
    FifoDiscipline fifo(tasks_, long_heap_, schedule, taken);
    run_events(tasks_, fifo);
  }
  schedule.step_time = Nanos(last_end(schedule));
}

void SimulationEngine::run_queues(const Program& program, const SimulateOptions& options,
                                  TaskSchedule& schedule) {
  queues_.start(program, options, tasks_, schedule);
  run_events(tasks_, queues_);
  queues_.report_busy();
  take_times(tasks_, schedule);
  schedule.step_time = Nanos(0);
  for (const TaskTimes& times : schedule.times)
    schedule.step_time = std::max(schedule.step_time, times.end);
}

void SimulationEngine::run(const Program& program, const SimulateOptions& options,
                           TaskSchedule& schedule) {
  tasks_.load(program);
  if (options.fair_links || (options.priorities && tasks_.priorities_differ()))
    return run_queues(program, options, schedule);
  schedule.resources.assign(program.resource_count(), ResourceUse());
  run_fifo(0, schedule);
  take_times(tasks_, schedule);
}

void SimulationEngine::run_by_events(const Program& program, const SimulateOptions& options,
                                     TaskSchedule& schedule) {
  tasks_.load(program);
  run_queues(program, options, schedule);
}

void SimulationEngine::replay(const TaskRows& rows, std::span<const TaskId> rest,
                              std::span<const std::int32_t> places, std::size_t taken,
                              TaskSchedule& schedule) {
  tasks_.load_rest(rows, rest, places, static_cast<std::int32_t>(taken), schedule.times);
  const auto from =
      schedule.checkpoints.begin() +
      static_cast<std::ptrdiff_t>(taken / TaskSchedule::kStride * schedule.resources.size());
  std::copy_n(from, schedule.resources.size(), schedule.resources.begin());
  run_fifo(taken, schedule);
  for (std::size_t i = 0; i < rest.size(); ++i) schedule.times[rest[i]] = times_of(tasks_[i]);
  for (std::size_t i = taken; i < schedule.order.size(); ++i) {
    std::int32_t& task = schedule.order[i].task;
    task = rest[static_cast<std::size_t>(task)].value();
  }
}

}  // namespace strato
