#include "core/sim/explain/error_bar.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/program/value/collective.h"
#include "core/sim/explain/critical_path.h"

namespace strato {
namespace {

// Cost models give no error for local copies: launch and memory bandwidth are known well, how near
// a copy comes to them is not.
constexpr double kReshuffleError = 0.25;

// Errors with equal keys go together: one source, and one op family or kind of communication.
using ErrorKey = std::tuple<CostSource, TaskKind, OpFamily>;
ErrorKey key_of(const Program& program, const Task& task, CostSource source) {
  const bool is_op = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
  return {source, is_op ? TaskKind::Compute : task.kind,
          is_op ? program.graph->op(task.op).family : OpFamily::Other};
}

Estimate explain_op(const Program& program, const Task& task, const CostModel& cost) {
  const GpuTypeId gpu = program.cluster->device(task.device).type;
  Estimate estimate = cost.explain_compute(task.op, gpu, program.samples_of(task));
  if (!program.part_of(task).is_divided()) return estimate;
  estimate.time = task.duration;
  estimate.detail += estimate.detail.empty() ? "a slice of the op" : "; a slice of the op";
  return estimate;
}

}  // namespace

Estimate explain_task(const Timeline& timeline, TaskId id, const CostModel& cost) {
  const Program& program = *timeline.program;
  const Task& task = program.tasks[id];
  switch (task.kind) {
    case TaskKind::Compute:
    case TaskKind::Update:
      return explain_op(program, task, cost);
    case TaskKind::Split:
    case TaskKind::Concat:
    case TaskKind::Sum:
      return {task.duration, CostSource::Analytic, kReshuffleError,
              "a local copy at the GPU's memory bandwidth"};
    case TaskKind::Transfer:
    case TaskKind::Offload:
    case TaskKind::Fetch:
      return cost.explain_transfer(path_of(program, task), task.bytes);
    default:
      return cost.explain_collective(*collective_of(task.kind), all_members_of(program, id),
                                     task.bytes);
  }
}

ErrorBar error_bar(const Timeline& timeline, const CostModel& cost) {
  std::map<ErrorKey, double> deviation;  // nanoseconds
  std::array<double, 3> by_source{};
  for (const CriticalStep& step : critical_path(timeline)) {
    const Estimate estimate = explain_task(timeline, step.task, cost);
    const TaskTimes& times = timeline.tasks[step.task];
    const double time = static_cast<double>((times.end - times.start).value);
    by_source[static_cast<std::size_t>(estimate.source)] += time;
    deviation[key_of(*timeline.program, timeline.program->tasks[step.task], estimate.source)] +=
        time * estimate.error;
  }
  double variance = 0;
  for (const auto& [key, value] : deviation) variance += value * value;
  const double step = static_cast<double>(std::max<std::int64_t>(timeline.step_time.value, 1));
  const double error = std::sqrt(variance);
  return {.low = std::max(Nanos(0), timeline.step_time - nanos_from(error)),
          .high = timeline.step_time + nanos_from(error),
          .relative = error / step,
          .analytic = by_source[0] / step,
          .fit = by_source[1] / step,
          .profile = by_source[2] / step};
}

}  // namespace strato
