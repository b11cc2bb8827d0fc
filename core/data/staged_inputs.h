// The input batches of a job, where they are not synthetic: the folder inputs/ in the job's.
//
//   index.json   which file belongs to which input of the graph, and how many samples there are
//   <i>.npy      all samples of one input
//
// Throws InputError; safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/data/inputs.h"
#include "core/data/npy.h"
#include "core/graph/value/graph.h"

namespace strato {

inline std::filesystem::path inputs_folder(const std::filesystem::path& job) {
  return job / "inputs";
}

// Writes inputs/ into the job's folder: a file that needs no change becomes a link to it where the
// file system has it, so it must stay as it is until the job ends.
void stage_inputs(const std::filesystem::path& job, const Graph& graph, const BoundInputs& inputs,
                  std::int64_t samples);

// What was staged, of the same graph.
struct StagedInput {
  TensorId tensor;
  std::shared_ptr<const NpyFile> file;
};
struct StagedInputs {
  std::int64_t samples = 0;
  std::vector<StagedInput> inputs;
};
StagedInputs open_inputs(const std::filesystem::path& job, const Graph& graph);

// The elements of samples [begin, end) of the step's batch; of an input without samples all.
std::string batch_of(const StagedInput& input, const Graph& graph, std::int64_t samples,
                     std::int64_t step, std::int64_t begin, std::int64_t end);

}  // namespace strato
