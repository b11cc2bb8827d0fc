#include "views/timeline/task_changes.h"

#include <algorithm>

namespace strato {
namespace {

constexpr std::size_t kParts = 4;             // of an op
constexpr double kSame = 0.02, kMuch = 0.25;  // of the time there

std::vector<TaskChanges::Part> parts_of_ops(const Timeline& timeline) {
  const Program& program = *timeline.program;
  std::vector<TaskChanges::Part> parts(program.graph->op_count() * kParts);
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[TaskId(t)];
    if (!task.op.valid()) continue;
    const TaskTimes& times = timeline.tasks[TaskId(t)];
    TaskChanges::Part& part = parts[TaskChanges::key_of(task)];
    part.longest = std::max(part.longest, times.end - times.start);
    part.first = part.known ? std::min(part.first, times.start) : times.start;
    part.known = true;
  }
  return parts;
}

}  // namespace

std::size_t TaskChanges::key_of(const Task& task) {
  std::size_t part = 0;
  if (is_communication(task.kind)) {
    part = 3;
  } else if (task.kind == TaskKind::Update) {
    part = 1;
  } else if (task.kind != TaskKind::Compute) {
    part = 2;
  }
  return task.op.index() * kParts + part;
}

Change TaskChanges::of(const Task& task) const {
  if (!task.op.valid()) return Change::Same;
  const std::size_t key = key_of(task);
  if (!there[key].known) return Change::OnlyHere;
  const auto a = static_cast<double>(here[key].longest.value),
             b = std::max(1.0, static_cast<double>(there[key].longest.value));
  const double change = a / b - 1;
  if (change < -kMuch) return Change::MuchFaster;
  if (change < -kSame) return Change::Faster;
  if (change <= kSame) return Change::Same;
  return change <= kMuch ? Change::Slower : Change::MuchSlower;
}

BothChanges compare_tasks(const Timeline& here, const Timeline& there) {
  if (here.program->graph != there.program->graph) return {};
  auto changes = std::make_shared<TaskChanges>();
  changes->here = parts_of_ops(here);
  changes->there = parts_of_ops(there);
  auto turned = std::make_shared<TaskChanges>();
  turned->here = changes->there;
  turned->there = changes->here;
  return {std::move(changes), std::move(turned)};
}

}  // namespace strato
