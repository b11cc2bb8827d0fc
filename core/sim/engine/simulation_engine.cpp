#include "core/sim/engine/simulation_engine.h"

#include <algorithm>
#include <bit>

#include "core/sim/engine/fifo_discipline.h"

namespace strato {
namespace {

TaskTimes times_of(const PendingTasks::Node& node) {
  return {Nanos(node.ready), Nanos(node.start), Nanos(node.start + node.duration)};
}

void take_times(const PendingTasks& tasks, TaskSchedule& schedule) {
  schedule.times.resize(tasks.size());
  schedule.streams.resize(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    schedule.times[TaskId(i)] = times_of(tasks[i]);
    schedule.streams[TaskId(i)] = tasks[i].stream;
  }
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
  const int bits = std::bit_width(static_cast<std::uint64_t>(longest));
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
  for (std::size_t i = 0; i < rest.size(); ++i) {
    schedule.times[rest[i]] = times_of(tasks_[i]);
    schedule.streams[rest[i]] = tasks_[i].stream;
  }
  for (std::size_t i = taken; i < schedule.order.size(); ++i) {
    std::int32_t& task = schedule.order[i].task;
    task = rest[static_cast<std::size_t>(task)].value();
  }
}

}  // namespace strato
