#include "core/sim/engine/replay.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/error.h"

namespace strato {
namespace {

// Ascending by ready time, ties in the order that they have: a radix sort, 11 bits at a time.
void sort_by_ready(std::vector<std::int32_t>& order, const std::vector<Replay::Times>& times) {
  constexpr int kBits = 11;
  constexpr std::size_t kBuckets = std::size_t{1} << kBits;
  std::int64_t last = 0;
  for (const std::int32_t task : order)
    last = std::max(last, times[static_cast<std::size_t>(task)].ready);
  std::vector<std::int32_t> other(order.size());
  for (int shift = 0; shift < 63 && (last >> shift) > 0; shift += kBits) {
    std::array<std::uint32_t, kBuckets + 1> begin{};
    const auto bucket = [&](std::int32_t task) {
      return static_cast<std::size_t>(times[static_cast<std::size_t>(task)].ready >> shift) %
             kBuckets;
    };
    for (const std::int32_t task : order) ++begin[bucket(task) + 1];
    for (std::size_t i = 0; i < kBuckets; ++i) begin[i + 1] += begin[i];
    for (const std::int32_t task : order) other[begin[bucket(task)]++] = task;
    order.swap(other);
  }
}

}  // namespace

void Replay::set_node(const DeltaLowering& lowering, TaskId task) {
  const Program& store = lowering.store();
  const std::size_t row = lowering.row(task);
  Node& node = nodes_[task.index()];
  node.duration = store.tasks[TaskId(row)].duration.value;
  node.dependencies = store.dependencies.begin(row);
  node.dependencies_end = store.dependencies.begin(row + 1);
  node.resources = store.resources.begin(row);
  node.resources_end = store.resources.begin(row + 1);
  CHECK(node.duration > 0, "a task takes no time");
}

void Replay::add_busy(const DeltaLowering& lowering, std::size_t task, std::int64_t sign) {
  const ResourceId* needed = lowering.store().resources.data();
  const Node& node = nodes_[task];
  total_ += sign * node.duration;
  for (std::uint32_t i = node.resources; i < node.resources_end; ++i)
    busy_[needed[i].index()] += sign * node.duration;
}

void Replay::start(const DeltaLowering& lowering, const IdVector<TaskId, TaskTimes>& times) {
  const std::size_t tasks = times.size();
  const std::size_t resources = lowering.store().resource_count();
  nodes_.resize(tasks);
  times_.assign(tasks, Times());
  total_ = 0;
  order_.resize(tasks);
  busy_.assign(resources, 0);
  free_.assign(resources, 0);
  for (std::size_t i = 0; i < tasks; ++i) {
    const TaskId task(i);
    set_node(lowering, task);
    add_busy(lowering, i, 1);
    times_[i].ready = times[task].ready.value;
    times_[i].end = times[task].end.value;
    order_[i] = static_cast<std::int32_t>(i);
  }
  sort_by_ready(order_, times_);
  needed_ = lowering.store().resources.data();
  snapshots_.resize((tasks / kStride + 1) * resources);
  for (std::size_t i = 0; i < tasks; ++i) {
    if (i % kStride == 0)
      std::copy(free_.begin(), free_.end(),
                snapshots_.begin() + static_cast<std::ptrdiff_t>(i / kStride * resources));
    const auto task = static_cast<std::size_t>(order_[i]);
    times_[task].position = static_cast<std::int32_t>(i);
    for (std::uint32_t r = nodes_[task].resources; r < nodes_[task].resources_end; ++r)
      free_[needed_[r].index()] = times_[task].end;
  }
}

// When the task's dependencies ended, as far as that is known.
std::int64_t Replay::set_ready(std::size_t task) {
  std::int64_t ready = 0;
  for (std::uint32_t i = nodes_[task].dependencies; i < nodes_[task].dependencies_end; ++i)
    ready = std::max(ready, times_[dependencies_[i].index()].end);
  return ready;
}

std::int64_t Replay::first_change(const DeltaLowering::Change& change) {
  std::int64_t first = INT64_MAX;
  for (const TaskId task : change.removed) first = std::min(first, times_[task.index()].ready);
  for (const TaskId task : change.added) {
    Times& times = times_[task.index()];
    times.ready = set_ready(task.index());
    times.end = times.ready + nodes_[task.index()].duration;
    first = std::min(first, times.ready);
  }
  for (const TaskId task : change.changed)
    first = std::min({first, times_[task.index()].ready, set_ready(task.index())});
  return first;
}

// The last snapshot before all tasks that were ready at `time` or later.
std::size_t Replay::begin_of(std::int64_t time) const {
  const auto at = std::partition_point(order_.begin(), order_.end(), [&](std::int32_t task) {
    return times_[static_cast<std::size_t>(task)].ready < time;
  });
  return static_cast<std::size_t>(at - order_.begin()) / kStride * kStride;
}

void Replay::follow(const DeltaLowering& lowering, const DeltaLowering::Change& change) {
  const std::size_t handles = lowering.store().tasks.size();
  pending_.clear();
  nodes_.resize(handles);
  times_.resize(handles);
  dependencies_ = lowering.store().dependencies.data();
  needed_ = lowering.store().resources.data();
  for (const TaskId task : change.removed) add_busy(lowering, task.index(), -1);
  for (const TaskId task : change.changed) set_node(lowering, task);
  for (const TaskId task : change.added) {
    set_node(lowering, task);
    add_busy(lowering, task.index(), 1);
  }
  const std::int64_t first = first_change(change);
  if (first == INT64_MAX) return;
  const std::size_t begin = begin_of(first);
  const std::size_t width = free_.size();
  collect(lowering, begin);
  index_dependents(begin);
  order_.resize(begin);
  snapshots_.resize(((begin + pending_.size()) / kStride + 1) * width);
  if (begin == 0) {
    std::fill(free_.begin(), free_.end(), 0);
  } else {
    std::copy_n(snapshots_.begin() + static_cast<std::ptrdiff_t>(begin / kStride * width), width,
                free_.begin());
  }
  const int bits = std::bit_width(pending_.size());
  const bool fits = std::bit_width(static_cast<std::uint64_t>(total_)) + bits < 64;
  fits ? schedule(short_heap_) : schedule(long_heap_);
}

// What is to be scheduled again.
void Replay::collect(const DeltaLowering& lowering, std::size_t begin) {
  lowering.list_tasks(emitted_);
  for (const TaskId task : emitted_) {
    Times& times = times_[task.index()];
    if (times.position >= 0 && static_cast<std::size_t>(times.position) < begin) continue;
    const Node& node = nodes_[task.index()];
    const bool single = node.resources_end - node.resources == 1;
    times.position = static_cast<std::int32_t>(begin + pending_.size());
    pending_.push_back({0, node.duration, 0, single ? needed_[node.resources].value() : -1,
                        node.resources, node.resources_end, task.value()});
  }
}

void Replay::index_dependents(std::size_t begin) {
  const std::size_t count = pending_.size();
  dependent_begin_.assign(count + 1, 0);
  edges_.clear();
  for (Pending& pending : pending_) {
    const Node& node = nodes_[static_cast<std::size_t>(pending.task)];
    for (std::uint32_t i = node.dependencies; i < node.dependencies_end; ++i) {
      const Times& dependency = times_[dependencies_[i].index()];
      const auto position = static_cast<std::size_t>(dependency.position);
      if (position < begin) {
        pending.ready = std::max(pending.ready, dependency.end);
      } else {
        ++pending.waiting;
        ++dependent_begin_[position - begin];
        edges_.push_back(static_cast<std::int32_t>(position - begin));
      }
    }
  }
  std::uint32_t sum = 0;
  for (std::uint32_t& at : dependent_begin_) at = sum += at;  // ends, walked back below
  dependents_.resize(edges_.size());
  const std::int32_t* edge = edges_.data() + edges_.size();
  for (std::size_t i = count; i-- > 0;)
    for (std::int32_t n = pending_[i].waiting; n > 0; --n)
      dependents_[--dependent_begin_[static_cast<std::size_t>(*--edge)]] =
          static_cast<std::int32_t>(i);
}

void Replay::save() {
  std::copy(
      free_.begin(), free_.end(),
      snapshots_.begin() + static_cast<std::ptrdiff_t>(order_.size() / kStride * free_.size()));
}

// Starts the task when all its resources are free, and takes them; returns its end.
inline std::int64_t Replay::take(Pending& pending) {
  if (pending.stream >= 0) {
    std::int64_t& free = free_[static_cast<std::size_t>(pending.stream)];
    return free = std::max(pending.ready, free) + pending.duration;
  }
  std::int64_t start = pending.ready;
  for (std::uint32_t i = pending.resources; i < pending.resources_end; ++i)
    start = std::max(start, free_[needed_[i].index()]);
  const std::int64_t end = start + pending.duration;
  for (std::uint32_t i = pending.resources; i < pending.resources_end; ++i)
    free_[needed_[i].index()] = end;
  return end;
}

template <class Key>
void Replay::schedule(KeyHeap<Key>& heap) {
  const int bits = std::bit_width(pending_.size());
  const Key mask = (Key{1} << bits) - 1;
  const auto key_of = [&](std::size_t at) {
    return static_cast<Key>(pending_[at].ready) << bits | at;
  };
  heap.clear();
  for (std::size_t i = 0; i < pending_.size(); ++i)
    if (pending_[i].waiting == 0) heap.push(key_of(i));
  while (!heap.empty()) {
    if (order_.size() % kStride == 0) save();
    const auto at = static_cast<std::size_t>(heap.top() & mask);
    Pending& pending = pending_[at];
    const std::int64_t end = take(pending);
    times_[static_cast<std::size_t>(pending.task)] = {pending.ready, end,
                                                      static_cast<std::int32_t>(order_.size())};
    order_.push_back(pending.task);
    bool replaced = false;
    for (std::uint32_t i = dependent_begin_[at]; i < dependent_begin_[at + 1]; ++i) {
      const auto other = static_cast<std::size_t>(dependents_[i]);
      Pending& dependent = pending_[other];
      dependent.ready = std::max(dependent.ready, end);
      if (--dependent.waiting > 0) continue;
      replaced ? heap.push(key_of(other)) : heap.replace_top(key_of(other));
      replaced = true;
    }
    if (!replaced) heap.pop();
  }
}

Nanos Replay::step_time() const {
  return Nanos(free_.empty() ? 0 : *std::max_element(free_.begin(), free_.end()));
}

}  // namespace strato
