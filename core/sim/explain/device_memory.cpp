#include "core/sim/explain/device_memory.h"

#include <algorithm>

#include "core/sim/memory/memory_peak.h"

namespace strato {
namespace {

bool is_backward(const Program& program, TaskId id) {
  const Task& task = program.tasks[id];
  return task.kind == TaskKind::Compute && program.graph->op(task.op).phase == Phase::Backward;
}

bool may_be_recomputed(const Program& program, const HeldBuffer& held) {
  const Task& writer = program.tasks[held.made_by];
  return writer.kind == TaskKind::Compute && program.graph->op(writer.op).phase == Phase::Forward &&
         program.graph->tensor(held.tensor).role == TensorRole::Activation;
}

}  // namespace

std::vector<HeldBuffer> held_buffers(const Timeline& timeline, DeviceId device) {
  const Program& program = *timeline.program;
  const auto lives = lifetimes(timeline);
  std::vector<std::int32_t> at(lives.size(), -1);
  std::vector<HeldBuffer> held;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Buffer& buffer = program.buffers[BufferId(i)];
    if (buffer.device != device) continue;
    const auto [taken_by, released_by] = lives[BufferId(i)];
    const TaskTimes& made = timeline.tasks[taken_by];
    const Nanos end = timeline.tasks[released_by].end;
    at[i] = static_cast<std::int32_t>(held.size());
    held.push_back({BufferId(i), buffer.tensor, buffer.bytes, taken_by, released_by, made.start,
                    end, made.end, end});
  }
  for (std::size_t i = 0; i < program.tasks.size(); ++i)
    for (BufferId buffer : program.reads[i]) {
      if (at[buffer.index()] < 0) continue;
      HeldBuffer& each = held[static_cast<std::size_t>(at[buffer.index()])];
      const TaskTimes& times = timeline.tasks[TaskId(i)];
      if (is_backward(program, TaskId(i))) {
        each.kept_until = std::min(each.kept_until, times.start);
      } else {
        each.kept_from = std::max(each.kept_from, times.end);
      }
    }
  for (HeldBuffer& each : held)
    if (!is_backward(program, each.held_for) || !may_be_recomputed(program, each) ||
        each.kept_from >= each.kept_until)
      each.kept_from = each.kept_until = each.end;
  return held;
}

Bytes peak_of(std::span<const HeldBuffer> buffers, std::span<const std::size_t> order,
              std::size_t dropped) {
  std::vector<MemoryEvent> events;
  const auto hold = [&](Nanos begin, Nanos end, Bytes bytes) {
    if (begin >= end) return;
    events.push_back(MemoryEvent::take(begin, bytes));
    events.push_back(MemoryEvent::release(end, bytes));
  };
  std::vector<bool> drop(buffers.size());
  for (std::size_t i = 0; i < dropped; ++i) drop[order[i]] = true;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const HeldBuffer& held = buffers[i];
    hold(held.begin, drop[i] ? held.kept_from : held.end, held.bytes);
    if (drop[i]) hold(held.kept_until, held.end, held.bytes);
  }
  std::sort(events.begin(), events.end());
  MemoryPeak peak;
  for (const MemoryEvent& event : events) peak.add(event);
  return peak.bytes();
}

}  // namespace strato
