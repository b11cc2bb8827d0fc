#include "core/program/project/rank_programs.h"

#include <utility>

#include "core/base/error.h"
#include "core/program/project/rank_builder.h"

namespace strato {
namespace {

RankPrograms build_ranks(const Program& program, std::span<const TaskId> order, DeviceId only) {
  CHECK(order.size() == program.tasks.size(), "an order of another number of tasks");
  RankBuilder builder(program, only);
  std::vector<bool> done(program.tasks.size());
  for (const TaskId task : order) {
    CHECK(task.valid() && task.index() < done.size() && !done[task.index()],
          "an order with a task twice");
    for (const TaskId dependency : program.dependencies[task.index()])
      CHECK(done[dependency.index()],
            program.task_name(task) + " comes before " + program.task_name(dependency));
    done[task.index()] = true;
    builder.add(task);
  }
  return std::move(builder).finish();
}

}  // namespace

RankPrograms rank_programs(const Program& program, std::span<const TaskId> order) {
  return build_ranks(program, order, {});
}

std::optional<RankProgram> rank_program_of(const Program& program, std::span<const TaskId> order,
                                           DeviceId device) {
  CHECK(device.valid() && device.index() < program.cluster->device_count(),
        "a device of the cluster");
  std::vector<RankProgram> ranks = build_ranks(program, order, device).ranks;
  if (ranks.empty()) return std::nullopt;
  return std::move(ranks.front());
}

}  // namespace strato
