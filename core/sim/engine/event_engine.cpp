#include "core/sim/engine/event_engine.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

using Key = unsigned __int128;

Key queue_key(std::int32_t priority, Nanos ready, TaskId id) {
  const auto rank =
      static_cast<std::uint32_t>(static_cast<std::int64_t>(priority) + (std::int64_t{1} << 31));
  return (static_cast<Key>(rank) << 96) | (static_cast<Key>(ready.value) << 32) |
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

void EventEngine::start() {
  const Program& program = *program_;
  now_ = Nanos(0);
  ended_ = 0;
  priorities_ = timeline_->options.priorities;
  fair_ = timeline_->options.fair_links;
  phase_.assign(program.tasks.size(), Phase::Running);
  if (fair_) links_.start(program);
  running_.clear();
  touched_.clear();
  woken_.clear();
  resources_.resize(program.resource_count());
  for (Resource& resource : resources_) {
    resource.queue.clear();
    resource.busy = Nanos(0);
    resource.taken = false;
  }
  memory_.start(program, *timeline_);
  dependents_.index(program);
  timeline_->tasks.resize(program.tasks.size());
  waiting_.resize(program.tasks.size());
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    waiting_[i] = static_cast<std::int32_t>(program.dependencies[i].size());
    if (waiting_[i] == 0) woken_.push_back(TaskId(i));
  }
}

// What the task has to itself: all its resources, or its streams, which come first.
std::span<const ResourceId> EventEngine::queued(TaskId id) const {
  const auto resources = program_->resources[id.index()];
  if (!fair_) return resources;
  const ResourceId first_link(2 * program_->cluster->device_count());
  const auto end = std::find_if(resources.begin(), resources.end(),
                                [&](ResourceId resource) { return resource >= first_link; });
  return {resources.begin(), end};
}

void EventEngine::make_ready(TaskId id) {
  timeline_->tasks[id].ready = now_;
  const Key key = queue_key(priorities_ ? program_->tasks[id].priority : 0, now_, id);
  const auto needed = queued(id);
  for (const ResourceId resource : needed) {
    resources_[resource.index()].queue.push(key);
    touched_.push_back(resource);
  }
  if (needed.empty()) begin(id);
}

// Starts the first task of the resource's queue if it is first in all its queues and all are free.
// Which resource is asked first does not matter: two tasks that can start share no resource.
void EventEngine::start_first(ResourceId resource) {
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

void EventEngine::begin(TaskId id) {
  const Task& task = program_->tasks[id];
  CHECK(task.duration > Nanos(0), "a task takes no time");
  timeline_->tasks[id].start = now_;
  memory_.begin(id, now_);
  if (!fair_ || !is_communication(task.kind) || task.latency >= task.duration) {
    timeline_->tasks[id].end = now_ + task.duration;
    running_.push(end_key(now_ + task.duration, id));
  } else if (task.latency > Nanos(0)) {
    phase_[id.index()] = Phase::Latency;
    running_.push(end_key(now_ + task.latency, id));
  } else {
    begin_flow(id);
  }
}

void EventEngine::begin_flow(TaskId id) {
  const Task& task = program_->tasks[id];
  const auto links = program_->resources[id.index()].subspan(queued(id).size());
  phase_[id.index()] = Phase::Flow;
  links_.add(id, links, task.duration - task.latency, now_, task.kind == TaskKind::Transfer);
}

void EventEngine::share_links() {
  for (const auto& [task, end] : links_.update(now_)) running_.push(end_key(end, task));
}

void EventEngine::next_phase(TaskId id) {
  const Phase phase = phase_[id.index()];
  if (phase == Phase::Latency) return begin_flow(id);
  if (phase == Phase::Running) return end(id);
  if (phase == Phase::Ended || !links_.ends_at(id, now_)) return;  // no longer holds
  for (const TaskId finished : links_.finish(id, now_)) {
    timeline_->tasks[finished].end = now_;
    end(finished);
  }
}

void EventEngine::end(TaskId id) {
  ++ended_;
  phase_[id.index()] = Phase::Ended;
  timeline_->step_time = now_;
  for (const ResourceId resource : queued(id)) {
    resources_[resource.index()].taken = false;
    resources_[resource.index()].busy += now_ - timeline_->tasks[id].start;
    touched_.push_back(resource);
  }
  memory_.end(id);
  for (const TaskId dependent : dependents_[id])
    if (--waiting_[dependent.index()] == 0) woken_.push_back(dependent);
}

void EventEngine::report_busy(std::vector<Nanos>& busy) const {
  busy.clear();
  for (const Resource& resource : resources_) busy.push_back(resource.busy);
  for (std::size_t i = 2 * program_->cluster->device_count(); fair_ && i < busy.size(); ++i)
    busy[i] = links_.busy(LinkId(i - 2 * program_->cluster->device_count()));
}

void EventEngine::run(const Program& program, Timeline& timeline, std::vector<Nanos>& busy) {
  program_ = &program;
  timeline_ = &timeline;
  start();
  while (true) {
    for (const TaskId id : woken_) make_ready(id);
    woken_.clear();
    for (const ResourceId resource : touched_) start_first(resource);
    touched_.clear();
    if (fair_) share_links();
    if (running_.empty()) break;
    now_ = end_of(running_.top());
    while (!running_.empty() && end_of(running_.top()) == now_) {
      const TaskId id = task_of(running_.top());
      running_.pop();
      next_phase(id);
    }
  }
  CHECK(ended_ == program.tasks.size(), "a task never started");
  report_busy(busy);
}

}  // namespace strato
