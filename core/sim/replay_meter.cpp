#include "core/sim/replay_meter.h"

#include <algorithm>

namespace strato {
namespace {

constexpr std::int64_t kNever = INT64_MAX;

// Events come nearly in order.
template <class Event>
void insert(std::vector<Event>& events, const Event& event) {
  std::size_t at = events.size();
  events.push_back(event);
  for (; at > 0 && event.time < events[at - 1].time; --at) events[at] = events[at - 1];
  events[at] = event;
}

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
  facts.device = is_communication(task.kind) ? -1 : task.device.value();
  facts.group = task.op.valid() ? lowering.grouping()->group_of(task.op).value() : -1;
  facts.is_op = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
  facts.waits = !store.dependencies[row].empty();
  facts.taken = 0;
  for (const BufferId buffer : store.writes[row]) facts.taken += store.buffers[buffer].bytes.value;
}

void ReplayMeter::start(const DeltaLowering& lowering) {
  const std::size_t tasks = lowering.store().tasks.size();
  facts_.resize(tasks);
  for (std::size_t i = 0; i < tasks; ++i) set_facts(lowering, TaskId(i));
  devices_.resize(lowering.store().cluster->device_count());
}

void ReplayMeter::follow(const DeltaLowering& lowering, const DeltaLowering::Change& change) {
  facts_.resize(lowering.store().tasks.size());
  for (const TaskId task : change.added) set_facts(lowering, task);
  for (const TaskId task : change.changed) set_facts(lowering, task);
}

// Also tells communication from the rest.
void ReplayMeter::find_releases(const Replay& replay) {
  communication_.clear();
  for (const std::int32_t task : replay.order()) {
    const Facts& facts = facts_[static_cast<std::size_t>(task)];
    const std::int64_t end = replay.times(static_cast<std::size_t>(task)).end;
    for (std::uint32_t i = facts.writes; i < facts.writes_end; ++i)
      releases_[writes_[i].index()] = {end, task};
    for (std::uint32_t i = facts.reads; i < facts.reads_end; ++i)
      if (Release& release = releases_[reads_[i].index()]; release.time < end) release = {end, task};
    if (facts.device < 0) communication_.push_back(task);
  }
}

void ReplayMeter::add_communication(const Replay& replay, std::int32_t task) {
  const auto at = static_cast<std::size_t>(task);
  const Facts& facts = facts_[at];
  const Replay::Times& times = replay.times(at);
  const std::int64_t start = times.end - replay.duration(at);
  const auto release = [&](BufferId buffer) {
    if (releases_[buffer.index()].task != task) return;
    const Buffer& freed = buffers_[buffer.index()];
    insert(devices_[freed.device.index()].releases, Event{times.end, freed.bytes.value});
  };
  for (std::uint32_t i = facts.writes; i < facts.writes_end; ++i) {
    const Buffer& taken = buffers_[writes_[i].index()];
    insert(devices_[taken.device.index()].takes, Event{start, taken.bytes.value});
    release(writes_[i]);
  }
  for (std::uint32_t i = facts.reads; i < facts.reads_end; ++i) release(reads_[i]);
  if (facts.group < 0 || !facts.waits) return;
  Span& span = spans_[static_cast<std::size_t>(facts.group)];
  ++span.transfers;
  span.idle += start - times.ready;
}

std::int64_t ReplayMeter::released_by(std::int32_t task) const {
  const Facts& facts = facts_[static_cast<std::size_t>(task)];
  std::int64_t bytes = 0;
  for (std::uint32_t i = facts.writes; i < facts.writes_end; ++i)
    if (releases_[writes_[i].index()].task == task)
      bytes += buffers_[writes_[i].index()].bytes.value;
  for (std::uint32_t i = facts.reads; i < facts.reads_end; ++i)
    if (releases_[reads_[i].index()].task == task) bytes += buffers_[reads_[i].index()].bytes.value;
  return bytes;
}

void ReplayMeter::release_until(DeviceState& device, std::int64_t time) {
  if (device.pending.time <= time) {
    device.used -= device.pending.bytes;
    device.pending.time = kNever;
  }
  const std::vector<Event>& releases = device.releases;
  for (; device.next_release < releases.size() && releases[device.next_release].time <= time;
       ++device.next_release)
    device.used -= releases[device.next_release].bytes;
}

// All that happens before `time`, and the releases at it.
void ReplayMeter::advance(DeviceState& device, std::int64_t time) {
  const std::vector<Event>& takes = device.takes;
  for (; device.next_take < takes.size() && takes[device.next_take].time < time;
       ++device.next_take) {
    const Event& take = takes[device.next_take];
    release_until(device, take.time);
    device.used += take.bytes;
    if (device.used > device.peak) device.peak = device.used, device.peak_at = take.time;
  }
  release_until(device, time);
}

void ReplayMeter::add_compute(const Replay& replay, std::int32_t task) {
  const auto at = static_cast<std::size_t>(task);
  const Facts& facts = facts_[at];
  const std::int64_t end = replay.times(at).end, start = end - replay.duration(at);
  DeviceState& device = devices_[static_cast<std::size_t>(facts.device)];
  advance(device, start);
  device.used += facts.taken;
  if (device.used > device.peak) device.peak = device.used, device.peak_at = start;
  device.pending = {end, released_by(task)};
  if (!facts.is_op || facts.group < 0) return;
  Span& span = spans_[static_cast<std::size_t>(facts.group)];
  span.first = std::min(span.first, start);
  span.last = std::max(span.last, end);
}

void ReplayMeter::measure(const DeltaLowering& lowering, const Replay& replay) {
  const Program& store = lowering.store();
  reads_ = store.reads.data();
  writes_ = store.writes.data();
  buffers_ = store.buffers.data();
  releases_.resize(store.buffers.size());
  spans_.assign(lowering.grouping()->size(), Span{kNever, 0, 0, 0});
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    DeviceState& device = devices_[d];
    device.takes.clear();
    device.releases.clear();
    device.next_take = device.next_release = 0;
    device.used = device.peak = lowering.resident(DeviceId(d)).value;
    device.peak_at = 0;
    device.pending = {kNever, 0};
  }
  find_releases(replay);
  for (const std::int32_t task : communication_) add_communication(replay, task);
  for (const std::int32_t task : replay.order())
    if (facts_[static_cast<std::size_t>(task)].device >= 0) add_compute(replay, task);
  peaks_.clear();
  for (DeviceState& device : devices_) {
    advance(device, kNever - 1);
    peaks_.push_back({Bytes(device.peak), Nanos(device.peak_at)});
  }
  groups_.clear();
  for (const Span& span : spans_) {
    Feedback::Group group;
    if (span.last > 0) group.makespan = Nanos(span.last - span.first);
    if (span.transfers > 0) group.idle_before_transfer = Nanos(span.idle / span.transfers);
    groups_.push_back(group);
  }
}

}  // namespace strato
