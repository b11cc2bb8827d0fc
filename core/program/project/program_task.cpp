#include "core/program/project/program_task.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace strato {

Instruction ProgramTask::instruction(InstructionKind kind, const Part& part) const {
  Instruction what;
  what.kind = kind;
  what.stream = is_communication(task().kind) ? Stream::Communication : Stream::Compute;
  what.task = id;
  if (kind == InstructionKind::Compute || kind == InstructionKind::Update) what.op = task().op;
  what.piece = piece_of(part);
  what.duration = task().duration;
  what.bytes = task().bytes;
  return what;
}

void ProgramTask::fail(TensorId tensor, const std::string& problem) const {
  throw InvariantError(fmt::format("task {} ({}), tensor {}: {}", id.value(), program.task_name(id),
                                   program.graph->tensor(tensor).name, problem));
}

}  // namespace strato
