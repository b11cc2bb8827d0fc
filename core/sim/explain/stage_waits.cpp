#include "core/sim/explain/stage_waits.h"

#include <algorithm>
#include <map>

#include "core/program/value/collective.h"
#include "core/sim/timeline/spans.h"

namespace strato {
namespace {

// Do its ops run for each micro-batch?
IdVector<OpId, char> repeated_ops(const Program& program) {
  IdVector<OpId, char> repeated(program.graph->op_count());
  for (const Task& task : program.tasks)
    if (task.kind == TaskKind::Compute && task.micro > 0) repeated[task.op] = 1;
  return repeated;
}

// What a device does, and when its part of the passes begins and ends.
struct DeviceWork {
  std::vector<Span> occupied;
  Nanos first = Nanos::max(), last;
};

IdVector<DeviceId, DeviceWork> work_of(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const IdVector<OpId, char> is_repeated = repeated_ops(program);
  IdVector<DeviceId, DeviceWork> work(program.stage_of.size());
  for (const TaskId id : program.tasks.ids()) {
    const Task& task = program.tasks[id];
    const Span span{timeline.tasks[id].start, timeline.tasks[id].end};
    std::vector<DeviceId> devices = members_of(program, id);
    if (devices.empty()) devices = {task.device};
    if (task.target.valid()) devices.push_back(task.target);
    const std::int32_t stage = program.stage_of[devices.front()];
    const auto is_here = [&](DeviceId device) { return program.stage_of[device] == stage; };
    if (is_communication(task.kind) && !std::ranges::all_of(devices, is_here)) continue;
    for (const DeviceId device : devices) {
      work[device].occupied.push_back(span);
      if (task.kind != TaskKind::Compute || is_repeated[task.op] == 0) continue;
      work[device].first = std::min(work[device].first, span.begin);
      work[device].last = std::max(work[device].last, span.end);
    }
  }
  return work;
}

}  // namespace

std::vector<StageWait> stage_waits(const Timeline& timeline) {
  const Program& program = *timeline.program;
  if (program.micro_batches < 2) return {};
  const IdVector<DeviceId, DeviceWork> work = work_of(timeline);
  std::map<std::int32_t, StageWait> stages;
  for (const DeviceId device : work.ids()) {
    if (program.stage_of[device] < 0 || work[device].first == Nanos::max()) continue;
    StageWait& stage = stages[program.stage_of[device]];
    stage.devices.push_back(device);
    const Spans occupied = united(work[device].occupied);
    const auto idle = [&](Nanos begin, Nanos end) {
      return end - begin - overlap(occupied, {{begin, end}});
    };
    stage.before += idle(Nanos(0), work[device].first);
    stage.between += idle(work[device].first, work[device].last);
    stage.after += idle(work[device].last, timeline.step_time);
  }
  std::vector<StageWait> waits;
  if (stages.size() < 2) return waits;
  for (auto& [number, stage] : stages) {
    const auto count = static_cast<std::int64_t>(stage.devices.size());
    for (Nanos* time : {&stage.before, &stage.between, &stage.after}) *time = *time / count;
    waits.push_back(std::move(stage));
  }
  return waits;
}

}  // namespace strato
