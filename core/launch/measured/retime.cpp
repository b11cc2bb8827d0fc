#include "core/launch/measured/retime.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/program/value/collective.h"

namespace strato {
namespace {

class CostOf {
 public:
  CostOf(const Program& program, const CostModel& cost) : program_(program), cost_(cost) {}

  Nanos time(TaskId id) const {
    const Task& task = program_.tasks[id];
    const GpuTypeId gpu = program_.cluster->device(task.device).type;
    if (task.kind == TaskKind::Transfer)
      return at_least_one(
          cost_.transfer(program_.cluster->path(task.device, task.target), task.bytes));
    if (const auto kind = collective_of(task.kind))
      return cost_.collective(*kind, members_of(program_, id), task.bytes).duration;
    if (task.kind == TaskKind::Compute || task.kind == TaskKind::Update) {
      const std::int64_t samples = program_.samples_of(task);
      return at_least_one(cost_.compute(task.op, gpu, std::max<std::int64_t>(samples, 1)));
    }
    return at_least_one(cost_.local_move(gpu, task.bytes));
  }

 private:
  static Nanos at_least_one(Nanos time) { return std::max(Nanos(1), time); }
  const Program& program_;
  const CostModel& cost_;
};

// Parts of a split op take a share of what the cost model says, which is kept.
Nanos scaled(Nanos duration, Nanos from, Nanos to) {
  if (duration == from) return to;
  return std::max(Nanos(1), nanos_from(static_cast<double>(duration.value) * (to / from)));
}

}  // namespace

std::shared_ptr<const Program> retimed(const Program& program, const CostModel& from,
                                       const CostModel& to) {
  auto result = std::make_shared<Program>(program);
  const CostOf before(program, from), after(program, to);
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    Task& task = result->tasks[TaskId(i)];
    const Nanos old = before.time(TaskId(i));
    if (old.value <= 0) continue;
    task.duration = scaled(task.duration, old, after.time(TaskId(i)));
    task.latency = std::min(task.latency, task.duration);
  }
  return result;
}

double change_of_times(const Program& before, const Program& after) {
  CHECK(before.tasks.size() == after.tasks.size(), "programs of different tasks are compared");
  double changed = 0, all = 0;
  for (std::size_t i = 0; i < before.tasks.size(); ++i) {
    const Nanos old = before.tasks[TaskId(i)].duration;
    changed += static_cast<double>(std::abs((after.tasks[TaskId(i)].duration - old).value));
    all += static_cast<double>(old.value);
  }
  return all > 0 ? changed / all : 0;
}

}  // namespace strato
