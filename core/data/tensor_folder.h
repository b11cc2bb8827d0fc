// Tensors as a folder that needs no Stratoscope and no pickle to be read: checkpoints, and the
// weights that a job starts from, where they are not seeded.
//
//   index.json   names, roles, types, shapes; written last: with it the folder is whole
//   <i>.npy      one tensor
//
// Throws InputError; safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/data/tensor_source.h"
#include "core/graph/value/graph.h"

namespace strato {

struct FolderTensor {
  StoredTensor tensor;
  std::string role;  // "parameter", "state", "constant", "under way"
  std::filesystem::path file;
};
struct TensorFolder {
  std::int64_t step = 0;  // after which it was written
  std::vector<FolderTensor> tensors;
};
// Every file is inside the folder; whether it is there and fits is not looked at.
TensorFolder read_tensor_folder(const std::filesystem::path& folder);

// Makes a folder of a job, and those above it.
void make_folder(const std::filesystem::path& folder);

class TensorFolderWriter {
 public:
  // Makes the folder, and takes the index of an earlier one away.
  explicit TensorFolderWriter(std::filesystem::path folder);
  // `write` hands the elements to what it gets, in pieces. A link in the folder is never written
  // through.
  void add(const StoredTensor& tensor, const std::string& role,
           const std::function<void(const PutPart&)>& write);
  void finish(std::int64_t step);

 private:
  std::filesystem::path folder_;
  std::vector<FolderTensor> written_;
};

// The parameters of such a folder: whole, and there as long as the source is, whatever becomes of
// the folder.
std::unique_ptr<TensorSource> open_tensor_folder(const std::filesystem::path& folder);

// ---- weights/ in a job's folder: a checkpoint without optimizer state

inline std::filesystem::path weights_folder(const std::filesystem::path& job) {
  return job / "weights";
}

// A constant that the importer found too large to keep in the graph.
bool is_unknown_constant(const Tensor& tensor);

// The graph's parameters that the source has not.
std::vector<std::string> missing_parameters(const Graph& graph, const TensorSource& source);

// A parameter is missing, or has another shape or a type that does not widen to the graph's.
void check_weights(const Graph& graph, const TensorSource& source);

// "a, b and 7 more": the first of many names, for a message.
std::string names_text(const std::vector<std::string>& names);

struct WeightsReport {
  std::size_t parameters = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> not_finite;  // parameters with a NaN or an infinity
  std::vector<std::string> unused;      // of the source: no parameter of the graph
};
// Writes weights/ into the job's folder, one tensor at a time.
WeightsReport stage_weights(const std::filesystem::path& job, const Graph& graph,
                            const TensorSource& source);

}  // namespace strato
