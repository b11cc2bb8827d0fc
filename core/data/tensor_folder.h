// Tensors as a folder that needs no Stratoscope and no pickle to be read: checkpoints, and the
// weights that a job starts from.
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

}  // namespace strato
