#include "core/sim/engine/replay_meter.h"

#include <algorithm>

#include "core/sim/timeline/feedback.h"

namespace strato {
namespace {

std::int64_t taken_at(std::int64_t time) { return 2 * time + 1; }
std::int64_t released_at(std::int64_t time) { return 2 * time; }

}  // namespace

void ReplayMeter::set_facts(const DeltaLowering& lowering, TaskId id) {
  const Program& store = lowering.store();
  const std::size_t row = lowering.row(id);
  const Task& task = store.tasks[TaskId(row)];
  Facts& facts = facts_[id.index()];
  facts.reads = store.reads.begin(row);
  facts.reads_end = store.reads.begin(row + 1);
  facts.writes = store.writes.begin(row);
  facts.writes_end = store.writes.begin(row + 1);
  facts.group = task.op.valid() ? lowering.grouping()->group_of(task.op).value() : -1;
  facts.is_op = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
  facts.waits = !store.dependencies[row].empty();
  TaskBytes& bytes = bytes_[id.index()];
  bytes.device = is_communication(task.kind) ? kCommunicates : task.device.value();
  bytes.taken = 0;
  for (const BufferId buffer : store.writes[row]) bytes.taken += store.buffers[buffer].bytes.value;
}

void ReplayMeter::start(const DeltaLowering& lowering) {
  const std::size_t tasks = lowering.store().tasks.size();
  facts_.resize(tasks);
  bytes_.resize(tasks);
  for (std::size_t i = 0; i < tasks; ++i) set_facts(lowering, TaskId(i));
  devices_.resize(lowering.store().cluster->device_count());
}

void ReplayMeter::follow(const DeltaLowering& lowering, const DeltaLowering::Change& change) {
  facts_.resize(lowering.store().tasks.size());
  bytes_.resize(lowering.store().tasks.size(), {0, 0, kGone});
  for (const TaskId task : change.removed) bytes_[task.index()].device = kGone;
  for (const TaskId task : change.added) set_facts(lowering, task);
  for (const TaskId task : change.changed) set_facts(lowering, task);
}

void ReplayMeter::add_to_group(const Facts& facts, bool communicates, std::int64_t start,
                               const Replay::Times& times) {
  if (facts.group < 0) return;
  Span& span = spans_[static_cast<std::size_t>(facts.group)];
  if (facts.is_op) {
    span.first = std::min(span.first, start);
    span.last = std::max(span.last, times.end);
  } else if (communicates && facts.waits) {
    ++span.transfers;
    span.idle += start - times.ready;
  }
}

void ReplayMeter::find_last_readers(const Replay& replay) {
  for (std::size_t task = 0; task < bytes_.size(); ++task) {
    if (bytes_[task].device == kGone) continue;
    bytes_[task].released = 0;
    const Facts& facts = facts_[task];
    const Replay::Times& times = replay.times(task);
    for (std::uint32_t i = facts.reads; i < facts.reads_end; ++i)
      if (LastReader& last = last_readers_[reads_[i].index()]; last.end < times.end)
        last = {times.end, static_cast<std::int32_t>(task)};
    add_to_group(facts, bytes_[task].device == kCommunicates, times.end - replay.duration(task),
                 times);
  }
}

void ReplayMeter::take_and_release(const DeltaLowering& lowering, const Replay& replay) {
  const BufferId* writes = lowering.store().writes.data();
  const Buffer* buffers = lowering.store().buffers.data();
  for (std::size_t task = 0; task < bytes_.size(); ++task) {
    if (bytes_[task].device == kGone) continue;
    const Facts& facts = facts_[task];
    for (std::uint32_t i = facts.writes; i < facts.writes_end; ++i) {
      const Buffer& buffer = buffers[writes[i].index()];
      std::vector<Event>& others = devices_[buffer.device.index()].others;
      const std::int64_t end = replay.times(task).end;
      if (bytes_[task].device == kCommunicates)
        others.push_back({taken_at(end - replay.duration(task)), buffer.bytes.value});
      LastReader last = last_readers_[writes[i].index()];
      if (last.end == 0) last = {end, static_cast<std::int32_t>(task)};
      TaskBytes& reader = bytes_[static_cast<std::size_t>(last.task)];
      if (reader.device == kCommunicates) {
        others.push_back({released_at(last.end), -buffer.bytes.value});
      } else {
        reader.released += buffer.bytes.value;
      }
    }
  }
}

// Merges what a compute stream takes and releases, in the order of its tasks, with the rest.
void ReplayMeter::find_peaks(const Replay& replay) {
  for (DeviceState& device : devices_) {
    const auto by_moment = [](const Event& a, const Event& b) { return a.moment < b.moment; };
    if (!std::is_sorted(device.others.begin(), device.others.end(), by_moment))
      std::sort(device.others.begin(), device.others.end(), by_moment);
    device.others.push_back({INT64_MAX, 0});
  }
  const std::span<const std::int32_t> order = replay.order();
  constexpr std::size_t kAhead = 12;
  for (std::size_t i = 0; i < order.size(); ++i) {
    __builtin_prefetch(
        &bytes_[static_cast<std::size_t>(order[std::min(i + kAhead, order.size() - 1)])]);
    const auto task = static_cast<std::size_t>(order[i]);
    const TaskBytes& bytes = bytes_[task];
    if (bytes.device < 0) continue;
    DeviceState& device = devices_[static_cast<std::size_t>(bytes.device)];
    const std::int64_t end = replay.times(task).end;
    device.apply_with_others({taken_at(end - replay.duration(task)), bytes.taken});
    device.apply_with_others({released_at(end), -bytes.released});
  }
  peaks_.clear();
  for (DeviceState& device : devices_) {
    while (device.next + 1 < device.others.size()) device.apply(device.others[device.next++]);
    peaks_.push_back({Bytes(device.peak), Nanos(device.moment / 2)});
  }
}

void ReplayMeter::reset(const DeltaLowering& lowering) {
  reads_ = lowering.store().reads.data();
  last_readers_.assign(lowering.store().buffers.size(), LastReader{0, -1});
  spans_.assign(lowering.grouping()->size(), Span{INT64_MAX, 0, 0, 0});
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    DeviceState& device = devices_[d];
    device.others.clear();
    device.next = 0;
    device.used = device.peak = lowering.resident(DeviceId(d)).value;
    device.moment = 0;
  }
}

void ReplayMeter::measure(const DeltaLowering& lowering, const Replay& replay) {
  reset(lowering);
  find_last_readers(replay);
  take_and_release(lowering, replay);
  find_peaks(replay);
  groups_.clear();
  for (const Span& span : spans_) {
    Feedback::Group group;
    if (span.last > 0) group.makespan = Nanos(span.last - span.first);
    if (span.transfers > 0) group.idle_before_transfer = Nanos(span.idle / span.transfers);
    groups_.push_back(group);
  }
}

}  // namespace strato
