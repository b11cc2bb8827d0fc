#include "core/sim/engine/fifo_engine.h"

#include <algorithm>
#include <bit>

#include "core/base/error.h"

namespace strato {

bool FifoEngine::prepare() {
  const Program& program = *program_;
  const std::size_t tasks = program.tasks.size();
  const auto streams = static_cast<std::int32_t>(2 * program.cluster->device_count());
  nodes_.resize(tasks);
  longest_ = 0;
  bool alike = true;
  memory_.start(program);
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto resources = program.resources[i];
    const std::int32_t first = resources.front().value();
    const bool computes = resources.size() == 1 && first < streams && first % 2 == 0;
    const Task& task = program.tasks[TaskId(i)];
    const std::int64_t duration = task.duration.value;
    alike = alike && task.priority == program.tasks.front().priority;
    CHECK(duration > 0, "a task takes no time");
    if (__builtin_add_overflow(longest_, duration, &longest_)) longest_ = Nanos::max().value;
    nodes_[i] = {0, 0, duration, static_cast<std::int32_t>(program.dependencies[i].size()),
                 computes ? first : -1};
    memory_.declare(computes);
  }
  if (timeline_->options.priorities && !alike) return false;
  dependents_.index(program);
  resources_.assign(program.resource_count(), Resource());
  return true;
}

// Starts the task when all its resources are free, and takes them; returns its end.
inline std::int64_t FifoEngine::process(TaskId id, Node& node) {
  node.start = node.ready;
  if (node.stream >= 0) {
    Resource& stream = resources_[static_cast<std::size_t>(node.stream)];
    node.start = std::max(node.ready, stream.free);
    stream.busy += node.duration;
    memory_.add_compute(id, DeviceId(static_cast<std::size_t>(node.stream) / 2));
    return stream.free = node.start + node.duration;
  }
  const auto needed = program_->resources[id.index()];
  for (const ResourceId r : needed) node.start = std::max(node.start, resources_[r.index()].free);
  for (const ResourceId r : needed) {
    Resource& resource = resources_[r.index()];
    resource.free = node.start + node.duration;
    resource.busy += node.duration;
  }
  return node.start + node.duration;
}

template <class Key>
void FifoEngine::schedule(KeyHeap<Key>& heap, int id_bits) {
  const Key mask = (Key{1} << id_bits) - 1;
  heap.clear();
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].waiting == 0) heap.push(static_cast<Key>(i));
  std::int64_t last = 0;
  std::size_t done = 0;
  for (; !heap.empty(); ++done) {
    const TaskId id(static_cast<std::size_t>(heap.top() & mask));
    const std::int64_t end = process(id, nodes_[id.index()]);
    last = std::max(last, end);
    bool replaced = false;
    for (const TaskId dependent : dependents_[id]) {
      Node& other = nodes_[dependent.index()];
      other.ready = std::max(other.ready, end);
      if (--other.waiting > 0) continue;
      dependents_.prefetch(dependent);
      const Key key = (static_cast<Key>(other.ready) << id_bits) | dependent.index();
      replaced ? heap.push(key) : heap.replace_top(key);
      replaced = true;
    }
    if (!replaced) heap.pop();
  }
  CHECK(done == nodes_.size(), "a task never started");
  timeline_->step_time = Nanos(last);
}

bool FifoEngine::run(const Program& program, Timeline& timeline, std::vector<Nanos>& busy) {
  program_ = &program;
  timeline_ = &timeline;
  if (!prepare()) return false;
  const int id_bits = std::bit_width(program.tasks.size());
  if (std::bit_width(static_cast<std::uint64_t>(longest_)) + id_bits < 64) {
    schedule(short_heap_, id_bits);
  } else {
    schedule(long_heap_, id_bits);
  }
  timeline.tasks.resize(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    timeline.tasks[TaskId(i)] = {Nanos(node.ready), Nanos(node.start),
                                 Nanos(node.start + node.duration)};
  }
  memory_.finish(timeline);
  busy.resize(resources_.size());
  for (std::size_t i = 0; i < busy.size(); ++i) busy[i] = Nanos(resources_[i].busy);
  return true;
}

}  // namespace strato
