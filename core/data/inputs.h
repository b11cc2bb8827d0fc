// Arrays for the inputs of a graph, where its batches are not synthetic.
//
// An array has the samples on its first axis, and behind it what one sample is: an input of shape
// [32, 3, 8, 8] with a batch of 32 takes [N, 3, 8, 8], one with its samples on axis 1 as well.
// Where the graph has samples merged with another axis (labels of sequences: [batch * time]) that
// one stays: [N, time]. An input without samples takes one array of its own shape. Step k takes the
// samples from (k - 1) * batch on, and after the last one the first.
//
// A job has them in its folder inputs/:
//
//   index.json   which file belongs to which input of the graph, and how many samples there are
//   <i>.npy      all samples of one input
//
// Throws InputError; safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/data/npy.h"
#include "core/data/tensor_source.h"
#include "core/graph/value/graph.h"

namespace strato {

// How the samples lie in an input of the graph: [outer, samples, inner], in units of bytes for
// `inner`.
struct SampleLayout {
  Shape sample;  // what an array has behind its first axis
  std::int64_t outer = 1, inner = 0;
  bool batched = false;
};
SampleLayout sample_layout(const Tensor& input, std::int64_t batch);

std::vector<TensorId> inputs_of(const Graph& graph);

// "images: f32 [N, 3, 8, 8]" of each input, for people.
std::string describe_inputs(const Graph& graph);

// An array for an input: a file, or a tensor of a source.
struct InputArray {
  std::filesystem::path file;                  // .npy; empty: of the source
  std::shared_ptr<const TensorSource> source;  // what a plugin read
  std::size_t index = 0;
};
using InputArrays = std::map<std::string, InputArray>;  // by the name that a person gave

// An array as it is read: a file is mapped, a tensor of a source is in memory once elements() was
// asked for.
class OpenedArray {
 public:
  explicit OpenedArray(const InputArray& array);
  OpenedArray(const OpenedArray&) = delete;
  OpenedArray& operator=(const OpenedArray&) = delete;

  const StoredTensor& tensor() const { return tensor_; }
  std::string_view elements();
  [[noreturn]] void fail(const std::string& problem, const std::string& remedy) const;

 private:
  const InputArray& array_;
  StoredTensor tensor_;
  std::unique_ptr<const NpyFile> npy_;
  std::string read_;
};

// Each array with its input: the whole name, the name with '/' and other odd characters as '_', or
// what is behind the last '/', as far as that is one input's only. Throws InputError for an input
// without an array; a name of no input goes to `unused`.
struct BoundInputs {
  std::map<TensorId, InputArray> arrays;
  std::vector<std::string> unused;
};
BoundInputs bind_inputs(const Graph& graph, const InputArrays& arrays);

// Types, shapes, the same number of samples everywhere and at least a batch of them, indices in the
// range that their readers expect: all elements are looked at. Returns the number of samples.
std::int64_t check_inputs(const Graph& graph, const BoundInputs& inputs);

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
