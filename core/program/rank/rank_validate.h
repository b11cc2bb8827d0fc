// What must hold for a rank's program that came from a file (internal to core/program).
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/program/rank/rank_program.h"

namespace strato {

// Ids are in range of the graph, parts of their tensors; every instruction has the reads and
// writes of its kind, of sizes that fit; values are written once, before they are read, and not
// used after their release; waits are for earlier instructions. Throws InputError (file: `name`).
void validate_rank_program(const RankProgram& program, const Graph& graph, const std::string& name);

// How it is refused.
struct RankRefusal {
  const std::string& file;

  void expect(bool holds, const char* place, const char* problem) const {
    if (!holds) throw InputError(file, place, problem, "stage the job again");
  }
  void expect(bool holds, std::size_t instruction, const char* problem) const {
    if (!holds)
      throw InputError(file, "instruction " + std::to_string(instruction), problem,
                       "stage the job again");
  }
};

// The instruction has the operands of its kind, of sizes that fit, and waits for earlier ones.
// All values of the program have been checked.
void check_instruction(const RankProgram& program, std::size_t instruction, const Graph& graph,
                       const RankRefusal& refusal);

}  // namespace strato
