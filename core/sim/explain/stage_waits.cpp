#include "core/sim/explain/stage_waits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/program/value/collective.h"

namespace strato {
namespace {

// Do its ops run for each micro-batch?
IdVector<OpId, char> repeated_ops(const Program& program) {
  IdVector<OpId, char> repeated(program.graph->op_count());
  for (const Task& task : program.tasks)
    if (task.kind == TaskKind::Compute && task.micro > 0) repeated[task.op] = 1;
  return repeated;
}

}  // namespace

IdVector<DeviceId, StageWork> stage_work(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const IdVector<OpId, char> is_repeated = repeated_ops(program);
  IdVector<DeviceId, StageWork> work(program.stage_of.size());
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
      work[device].first_pass = std::min(work[device].first_pass, span.begin);
      work[device].last_pass = std::max(work[device].last_pass, span.end);
    }
  }
  for (StageWork& of_device : work) of_device.occupied = united(std::move(of_device.occupied));
  return work;
}

std::vector<StageWait> stage_waits(const Timeline& timeline) {
  const Program& program = *timeline.program;
  if (program.micro_batches < 2) return {};
  const IdVector<DeviceId, StageWork> work = stage_work(timeline);
  std::map<std::int32_t, StageWait> stages;
  for (const DeviceId device : work.ids()) {
    if (program.stage_of[device] < 0 || work[device].first_pass == Nanos::max()) continue;
    StageWait& stage = stages[program.stage_of[device]];
    stage.devices.push_back(device);
    const auto& [occupied, first, last] = work[device];
    const auto idle = [&spans = occupied](Nanos begin, Nanos end) {
      return end - begin - overlap(spans, {{begin, end}});
    };
    stage.before += idle(Nanos(0), first);
    stage.between += idle(first, last);
    stage.after += idle(last, timeline.step_time);
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
