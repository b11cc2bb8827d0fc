// The input batches of one rank, from the arrays that its job was staged with
// (core/data/inputs.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/data/inputs.h"
#include "core/graph/value/graph.h"
#include "core/plugin/api/rank_engine.h"
#include "core/program/rank/rank_program.h"

namespace strato::worker {

class RankInputs {
 public:
  // Graph and program outlive it. Throws InputError when what was staged does not fit.
  RankInputs(const std::filesystem::path& job, const Graph& graph, const RankProgram& program);

  // Fills what this rank holds of the step's batch; of the arrays nothing else is read.
  void load(std::int64_t step, RankExecution& execution) const;

 private:
  struct Held {
    ValueId value;
    std::size_t input;  // of staged_
  };
  std::string elements(const Held& held, std::int64_t step) const;

  const Graph& graph_;
  const RankProgram& program_;
  StagedInputs staged_;
  std::vector<Held> held_;
};

}  // namespace strato::worker
