#include "core/sim/engine/queue_discipline.h"

#include <algorithm>

namespace strato {
namespace {

using Key = unsigned __int128;

Key queue_key(std::int32_t priority, std::int64_t ready, TaskId id) {
  const auto rank =
      static_cast<std::uint32_t>(static_cast<std::int64_t>(priority) + (std::int64_t{1} << 31));
  return (static_cast<Key>(rank) << 96) | (static_cast<Key>(ready) << 32) |
         static_cast<std::uint32_t>(id.value());
}
Key end_key(Nanos end, TaskId id) {
  return (static_cast<Key>(end.value) << 32) | static_cast<std::uint32_t>(id.value());
}
Nanos end_of(Key key) { return Nanos(static_cast<std::int64_t>(key >> 32)); }
TaskId task_of(Key key) {
  return TaskId(static_cast<std::size_t>(static_cast<std::uint32_t>(key)));
}

}  // namespace

void QueueDiscipline::start(const Program& program, const SimulateOptions& options,
                            PendingTasks& tasks, TaskSchedule& schedule) {
  program_ = &program;
  tasks_ = &tasks;
  schedule_ = &schedule;
  now_ = Nanos(0);
  priorities_ = options.priorities;
  fair_ = options.fair_links;
  first_link_ = ResourceId(program.stream_count());
  phase_.assign(program.tasks.size(), Phase::Running);
  process_.clear();
  if (tasks.are_issued()) process_.resize(program.cluster->device_count(), 0);
  issued_.assign(program.tasks.size(), 0);
  if (fair_) links_.start(program);
  running_.clear();
  touched_.clear();
  woken_.clear();
  ending_.clear();
  resources_.resize(program.resource_count());
  for (Resource& resource : resources_) {
    resource.queue.clear();
    resource.busy = 0;
    resource.taken = false;
  }
  schedule.order.clear();
}

// What the task has to itself: all its resources, or its streams, which come first.
std::span<const ResourceId> QueueDiscipline::queued(TaskId id) const {
  const auto resources = program_->resources[id.index()];
  if (!fair_) return resources;
  const auto end = std::find_if(resources.begin(), resources.end(),
                                [&](ResourceId resource) { return resource >= first_link_; });
  return {resources.begin(), end};
}

// In the order of their ids, all that became ready at this moment.
void QueueDiscipline::let_processes_start(std::span<TaskId> ready) {
  std::ranges::sort(ready);
  for (const TaskId id : ready)
    for (const ResourceId resource : program_->resources[id.index()]) {
      if (program_->is_link(resource)) break;  // streams come first
      std::int64_t& process = process_[Program::device_of(resource)];
      process = (*tasks_)[id.index()].issued_by(process);
      issued_[id] = std::max(issued_[id], process);
    }
}

void QueueDiscipline::enter_queues(TaskId id) {
  const Key key = queue_key(priorities_ ? program_->tasks[id].priority : 0, now_.value, id);
  const auto needed = queued(id);
  for (const ResourceId resource : needed) {
    resources_[resource.index()].queue.push(key);
    touched_.push_back(resource);
  }
  if (needed.empty()) begin(id);
}

// Starts the first task of the resource's queue if it is first in all its queues and all are free.
// Which resource is asked first does not matter: two tasks that can start share no resource.
void QueueDiscipline::start_first(ResourceId resource) {
  const Resource& at = resources_[resource.index()];
  if (at.taken || at.queue.empty()) return;
  const Key key = at.queue.top();
  const TaskId id = task_of(key);
  const auto needed = queued(id);
  for (const ResourceId other : needed)
    if (resources_[other.index()].taken || resources_[other.index()].queue.top() != key) return;
  for (const ResourceId other : needed) {
    resources_[other.index()].queue.pop();
    resources_[other.index()].taken = true;
  }
  begin(id);
}

void QueueDiscipline::begin(TaskId id) {
  const Task& task = program_->tasks[id];
  PendingTasks::Node& node = (*tasks_)[id.index()];
  node.start = now_.value;
  schedule_->order.push_back({id.value(), node.stream});
  const Nanos wait(std::max<std::int64_t>(0, issued_[id] - now_.value));
  if (!fair_ || !is_communication(task.kind) || task.latency >= task.duration) {
    running_.push(end_key(now_ + wait + task.duration, id));
  } else if (wait + task.latency > Nanos(0)) {
    phase_[id.index()] = Phase::Latency;
    running_.push(end_key(now_ + wait + task.latency, id));
  } else {
    begin_flow(id);
  }
}

void QueueDiscipline::begin_flow(TaskId id) {
  const Task& task = program_->tasks[id];
  const auto links = program_->resources[id.index()].subspan(queued(id).size());
  phase_[id.index()] = Phase::Flow;
  links_.add(id, links, task.duration - task.latency, now_, task.kind == TaskKind::Transfer);
}

// After the last end of this moment: what can start does.
void QueueDiscipline::settle() {
  if (!process_.empty()) let_processes_start(woken_);
  for (const TaskId id : woken_) enter_queues(id);
  woken_.clear();
  for (const ResourceId resource : touched_) start_first(resource);
  touched_.clear();
  if (!fair_) return;
  for (const auto& [task, end] : links_.update(now_)) running_.push(end_key(end, task));
}

// Of a task on links that are shared fairly.
void QueueDiscipline::end_phase(TaskId id) {
  const Phase phase = phase_[id.index()];
  if (phase == Phase::Latency) return begin_flow(id);
  if (phase == Phase::Ended || !links_.ends_at(id, now_)) return;  // no longer holds
  const auto finished = links_.finish(id, now_);
  ending_.assign(finished.rbegin(), finished.rend());
}

Ended QueueDiscipline::end(TaskId id) {
  PendingTasks::Node& node = (*tasks_)[id.index()];
  phase_[id.index()] = Phase::Ended;
  node.duration = now_.value - node.start;
  for (const ResourceId resource : queued(id)) {
    resources_[resource.index()].taken = false;
    resources_[resource.index()].busy += node.duration;
    touched_.push_back(resource);
  }
  return {id.value(), now_.value};
}

Ended QueueDiscipline::next() {
  while (ending_.empty()) {
    if (running_.empty() || end_of(running_.top()) != now_) {
      settle();
      if (running_.empty()) return {};
      now_ = end_of(running_.top());
    }
    const TaskId id = task_of(running_.top());
    running_.pop();
    if (phase_[id.index()] == Phase::Running) return end(id);
    end_phase(id);
  }
  const TaskId id = ending_.back();
  ending_.pop_back();
  return end(id);
}

void QueueDiscipline::report_busy() const {
  schedule_->resources.assign(resources_.size(), ResourceUse());
  const std::size_t streams = first_link_.index();
  for (std::size_t i = 0; i < resources_.size(); ++i)
    schedule_->resources[i].busy =
        fair_ && i >= streams ? links_.busy(LinkId(i - streams)).value : resources_[i].busy;
}

}  // namespace strato
