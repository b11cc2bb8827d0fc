// A task of a program that is being projected onto ranks, and how the projection refuses it.
#pragma once

#include <span>
#include <string>

#include "core/program/rank/rank_program.h"

namespace strato {

struct ProgramTask {
  const Program& program;
  TaskId id;

  const Task& task() const { return program.tasks[id]; }
  const Op& op() const { return program.graph->op(task().op); }
  std::span<const BufferId> reads() const { return program.reads[id.index()]; }
  std::span<const BufferId> writes() const { return program.writes[id.index()]; }
  // The task is a Split that keeps its part for the next step.
  bool keeps() const { return task().kind == TaskKind::Split && writes().empty(); }

  // The instruction that the task becomes on a rank.
  Instruction instruction(InstructionKind kind, const Part& part) const;

  // Throws InvariantError that names the task and the tensor.
  [[noreturn]] void fail(TensorId tensor, const std::string& problem) const;
  void expect(bool holds, TensorId tensor, const char* problem) const {
    if (!holds) fail(tensor, problem);
  }
};

}  // namespace strato
