// Checkpoints: parameters and optimizer state after a step, as files that need no Stratoscope and
// no pickle to be read:
//
//   checkpoint-<step>/   as core/data/tensor_folder.h has it
//
// While one is written, each rank's part lies beside them as rank-<r>.bin. A checkpoint can be
// resumed by another plan of the same model: every rank takes its pieces of the whole tensors.
// Gradients that are kept for the next step (VariableSync::staleness) are in it with the role
// "under way", and are taken by ranks of other shares, too (under_way.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/graph/value/graph.h"
#include "core/plugin/api/rank_engine.h"
#include "core/program/rank/rank_program.h"

namespace strato::worker {

struct CheckpointRank {
  std::filesystem::path job;  // folder
  const Graph& graph;
  const RankProgram& program;
  RankExecution& execution;
  int rank = 0, ranks = 1;
};

// Every rank calls it; `barrier` lets the ranks meet. Throws InputError (a full disk, no rank holds
// all of a tensor), or what `barrier` throws.
void save_checkpoint(const CheckpointRank& rank, std::int64_t step,
                     const std::function<void()>& barrier);

// Fills what this rank holds from the job's folder `name`, and returns the step after which it was
// written. Throws InputError when it is not whole or of another model.
std::int64_t resume_checkpoint(const CheckpointRank& rank, const std::string& name);

// Fills the parameters that this rank holds from the weights that the job was staged with
// (core/data/tensor_folder.h); of a split parameter its slice only is read. Throws InputError.
void load_weights(const CheckpointRank& rank);

}  // namespace strato::worker
