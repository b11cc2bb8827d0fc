#include "core/sim/replay.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

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
  node.tie = lowering.tie(task);
  node.dependencies = store.dependencies.begin(row);
  node.dependencies_end = store.dependencies.begin(row + 1);
  node.resources = store.resources.begin(row);
  node.resources_end = store.resources.begin(row + 1);
  CHECK(node.duration > 0, "a task takes no time");
}

void Replay::add_busy(const DeltaLowering& lowering, std::size_t task, std::int64_t sign) {
  const ResourceId* needed = lowering.store().resources.data();
  const Node& node = nodes_[task];
  for (std::uint32_t i = node.resources; i < node.resources_end; ++i)
    busy_[needed[i].index()] += sign * node.duration;
}

void Replay::start(const DeltaLowering& lowering, const IdVector<TaskId, TaskTimes>& times) {
  const std::size_t tasks = times.size();
  const std::size_t resources = lowering.store().resource_count();
  nodes_.resize(tasks);
  times_.assign(tasks, Times());
  order_.resize(tasks);
  busy_.assign(resources, 0);
  resources_.assign(resources, Resource());
  for (std::size_t i = 0; i < tasks; ++i) {
    const TaskId task(i);
    set_node(lowering, task);
    add_busy(lowering, i, 1);
    times_[i].ready = times[task].ready.value;
    times_[i].end = times[task].end.value;
    order_[i] = static_cast<std::int32_t>(i);
  }
  sort_by_ready(order_, times_);
  for (std::size_t i = 0; i < tasks; ++i) {
    times_[static_cast<std::size_t>(order_[i])].position = static_cast<std::int32_t>(i);
  }
  snapshots_.clear();  // the first change goes through everything
}

// Where new tasks might come; returns the first position at which one can.
std::size_t Replay::guess_added(const DeltaLowering& lowering,
                                const DeltaLowering::Change& change) {
  std::size_t first = order_.size();
  added_.clear();
  for (const TaskId task : change.added) {
    const Node& node = nodes_[task.index()];
    Times& times = times_[task.index()];
    std::int32_t after = -1;
    for (std::uint32_t i = node.dependencies; i < node.dependencies_end; ++i) {
      const Times& dependency = times_[lowering.store().dependencies.data()[i].index()];
      times.ready = std::max(times.ready, dependency.end);
      after = std::max(after, dependency.position);
    }
    times.end = times.ready + node.duration;
    times.position = after;  // for those that follow it
    first = std::min(first, static_cast<std::size_t>(after + 1));
    added_.push_back({times.ready, node.tie, static_cast<std::int32_t>(task.value())});
  }
  std::sort(added_.begin(), added_.end(), [](const Added& a, const Added& b) {
    return a.ready != b.ready ? a.ready < b.ready : a.tie < b.tie;
  });
  return first;
}

// Sets guess_ from `begin` on: the old order without what is gone, and what is new.
void Replay::guess_order(std::size_t begin) {
  guess_.resize(order_.size() + added_.size());
  std::size_t next = begin;
  auto added = added_.begin();
  const auto put = [&](std::int32_t task, Times& times) {
    guess_[next++] = task;
    times.end = kUnknown;
    times.waiting = -1;
  };
  for (std::size_t i = begin; i < order_.size(); ++i) {
    Times& times = times_[static_cast<std::size_t>(order_[i])];
    if (times.position < 0) continue;
    for (; added != added_.end() && added->ready <= times.ready; ++added)
      put(added->task, times_[static_cast<std::size_t>(added->task)]);
    put(order_[i], times);
  }
  for (; added != added_.end(); ++added)
    put(added->task, times_[static_cast<std::size_t>(added->task)]);
  guess_.resize(next);
  cursor_ = begin;
}

bool Replay::follow(const DeltaLowering& lowering, const DeltaLowering::Change& change) {
  const std::size_t handles = lowering.store().tasks.size();
  nodes_.resize(handles);
  times_.resize(handles);
  dependencies_ = lowering.store().dependencies.data();
  needed_ = lowering.store().resources.data();
  std::size_t first = order_.size();
  replayed_ = 0;
  const auto touch = [&](TaskId task) {
    first = std::min(first, static_cast<std::size_t>(times_[task.index()].position));
  };
  for (const TaskId task : change.removed) {
    touch(task);
    add_busy(lowering, task.index(), -1);
  }
  for (const TaskId task : change.changed) {
    touch(task);
    set_node(lowering, task);
  }
  for (const TaskId task : change.removed) times_[task.index()].position = -1;
  for (const TaskId task : change.added) {
    set_node(lowering, task);
    add_busy(lowering, task.index(), 1);
  }
  first = std::min(first, guess_added(lowering, change));
  if (change.added.empty() && first == order_.size() && !snapshots_.empty()) return true;
  if (snapshots_.empty() || order_.empty()) first = 0;
  first = std::min(first, order_.size() - std::min<std::size_t>(order_.size(), 1));
  const std::size_t begin = first / kStride * kStride;
  guess_order(begin);
  snapshots_.resize((guess_.size() / kStride + 1) * resources_.size());
  if (begin == 0) std::fill(resources_.begin(), resources_.end(), Resource());
  if (begin > 0)
    std::copy_n(snapshots_.begin() + static_cast<std::ptrdiff_t>(begin / kStride * resources_.size()),
                resources_.size(), resources_.begin());
  return run(begin);
}

bool Replay::run(std::size_t begin) {
  const std::size_t tasks = guess_.size();
  const std::size_t most = 4 * tasks + 10'000;
  order_.resize(begin);
  order_.reserve(tasks);
  woken_.clear();
  while (true) {
    std::int32_t task;
    if (!woken_.empty()) {
      task = static_cast<std::int32_t>(woken_.front() & INT32_MAX);
      std::pop_heap(woken_.begin(), woken_.end(), std::greater<>());
      woken_.pop_back();
    } else if (cursor_ < tasks) {
      task = guess_[cursor_++];
      __builtin_prefetch(&nodes_[static_cast<std::size_t>(guess_[std::min(cursor_ + 7, tasks - 1)])]);
    } else {
      break;
    }
    if (++replayed_ > most) return false;
    if (order_.size() % kStride == 0) save();
    if (!pass(task) && !back(task)) return false;
  }
  CHECK(order_.size() == tasks, "a task waits for nothing");
  return true;
}

// True when the task has its times, or waits; false when it comes too late on a resource.
inline bool Replay::pass(std::int32_t task) {
  const Node& node = nodes_[static_cast<std::size_t>(task)];
  Times& times = times_[static_cast<std::size_t>(task)];
  std::int64_t ready = 0;
  for (std::uint32_t i = node.dependencies; i < node.dependencies_end; ++i)
    ready = std::max(ready, times_[dependencies_[i].index()].end);
  if (ready == kUnknown) {
    wait(task);
    return true;
  }
  std::int64_t start = times.ready = ready;
  bool late = false;
  for (std::uint32_t i = node.resources; i < node.resources_end; ++i) {
    const Resource& resource = resources_[needed_[i].index()];
    late = late || before(node, ready, resource);
    start = std::max(start, resource.free);
  }
  if (late) return false;
  const std::int64_t end = start + node.duration;
  for (std::uint32_t i = node.resources; i < node.resources_end; ++i)
    resources_[needed_[i].index()] = {end, ready, node.tie};
  times.end = end;
  times.position = static_cast<std::int32_t>(order_.size());
  order_.push_back(task);
  if (times.waiting >= 0) wake(task);
  return true;
}

// Parks the task at the first dependency that has no times yet.
void Replay::wait(std::int32_t task) {
  const Node& node = nodes_[static_cast<std::size_t>(task)];
  Times& times = times_[static_cast<std::size_t>(task)];
  times.guess = static_cast<std::int32_t>(cursor_);
  for (std::uint32_t i = node.dependencies; i < node.dependencies_end; ++i) {
    Times& dependency = times_[dependencies_[i].index()];
    if (dependency.end != kUnknown) continue;
    times.next_waiting = std::exchange(dependency.waiting, task);
    return;
  }
}

void Replay::wake(std::int32_t task) {
  std::int32_t next = std::exchange(times_[static_cast<std::size_t>(task)].waiting, -1);
  while (next >= 0) {
    const Times& times = times_[static_cast<std::size_t>(next)];
    woken_.push_back((std::int64_t{times.guess} << 32) | next);
    std::push_heap(woken_.begin(), woken_.end(), std::greater<>());
    next = times.next_waiting;
  }
}

// Goes back to where all that the task needs was last used by tasks that come before it, and lines up
// what was gone through since then by the times that came out.
bool Replay::back(std::int32_t task) {
  const Node& node = nodes_[static_cast<std::size_t>(task)];
  const std::int64_t ready = times_[static_cast<std::size_t>(task)].ready;
  const std::size_t width = resources_.size();
  std::size_t stride = order_.size() / kStride;
  const auto late_at = [&](std::size_t at) {
    for (std::uint32_t i = node.resources; i < node.resources_end; ++i)
      if (before(node, ready, snapshots_[at * width + needed_[i].index()])) return true;
    return false;
  };
  while (stride > 0 && late_at(stride)) --stride;
  const std::size_t begin = stride * kStride;
  std::copy_n(snapshots_.begin() + static_cast<std::ptrdiff_t>(stride * width), width,
              resources_.begin());
  order_.push_back(task);
  for (std::size_t i = begin; i < order_.size(); ++i)
    times_[static_cast<std::size_t>(order_[i])].end = kUnknown;
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(first, order_.end(), [&](std::int32_t a, std::int32_t b) {
    const Times &s = times_[static_cast<std::size_t>(a)], &t = times_[static_cast<std::size_t>(b)];
    if (s.ready != t.ready) return s.ready < t.ready;
    return nodes_[static_cast<std::size_t>(a)].tie < nodes_[static_cast<std::size_t>(b)].tie;
  });
  const std::size_t count = order_.size() - begin;
  CHECK(cursor_ >= count, "went back too far");
  cursor_ -= count;
  std::copy(first, order_.end(), guess_.begin() + static_cast<std::ptrdiff_t>(cursor_));
  order_.resize(begin);
  return true;
}

Nanos Replay::step_time() const {
  std::int64_t last = 0;
  for (const Resource& resource : resources_) last = std::max(last, resource.free);
  return Nanos(last);
}

}  // namespace strato
