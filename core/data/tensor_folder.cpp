#include "core/data/tensor_folder.h"

#include <fmt/format.h>

#include <deque>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/data/npy.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderFormat = "stratoscope-checkpoint";
constexpr int kFolderVersion = 1;

DataType tensor_type(const JsonView& view) {
  const auto type = type_called(view.string(), [](DataType each) { return name_of(each); });
  if (type) return *type;
  view.fail("is no type of elements", "take another checkpoint");
}

FolderTensor tensor_in(const JsonView& view, const fs::path& folder) {
  FolderTensor tensor;
  tensor.tensor.name = view.at("name").string();
  tensor.tensor.type = tensor_type(view.at("type"));
  for (const JsonView& extent : view.at("shape").items())
    tensor.tensor.shape.push_back(extent.integer(0));
  tensor.role = view.at("role").string();
  const std::string file = view.at("file").string();
  if (!is_numbered_npy(file))
    view.at("file").fail("is not a file of the checkpoint", "resume from another checkpoint");
  tensor.file = folder / file;
  return tensor;
}

// All files are open, and fit, before anything is read of them.
class FolderSource final : public TensorSource {
 public:
  explicit FolderSource(const fs::path& folder) : name_((folder / "index.json").string()) {
    for (const FolderTensor& tensor : read_tensor_folder(folder).tensors) {
      if (tensor.role == "state" || tensor.role == "under way") continue;
      tensors_.push_back(tensor.tensor);
      open(tensor);
    }
  }
  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void read(std::size_t index, const PutPart& put) const override { put(files_[index].elements()); }

 private:
  void open(const FolderTensor& tensor) {
    const NpyFile& file = files_.emplace_back(tensor.file);
    if (file.type() == tensor.tensor.type && file.shape() == tensor.tensor.shape) return;
    throw InputError(tensor.file.string(), "", "is of another type or shape than in index.json",
                     "take another checkpoint");
  }

  std::string name_;
  std::vector<StoredTensor> tensors_;
  std::deque<NpyFile> files_;  // by tensor
};

// write_file_in_parts() replaces a link to a file, but writes through one to a device.
void refuse_link(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_symlink(fs::symlink_status(file, ignored))) return;
  throw InputError(file.string(), "", "is a symbolic link, and is not written through",
                   "take the link away, or choose another job folder");
}

}  // namespace

TensorFolder read_tensor_folder(const fs::path& folder) {
  const fs::path file = folder / "index.json";
  const JsonView index = JsonView::parse(read_file(file), file.string());
  index.expect_format(kFolderFormat, kFolderVersion);
  TensorFolder result;
  result.step = index.at("step").integer(0);
  for (const JsonView& tensor : index.at("tensors").items())
    result.tensors.push_back(tensor_in(tensor, folder));
  return result;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(folder.string(), "", "cannot be made: " + error.message(),
                     "make room, or choose a job folder that you may write to");
}

TensorFolderWriter::TensorFolderWriter(fs::path folder) : folder_(std::move(folder)) {
  make_folder(folder_);
  std::error_code ignored;
  fs::remove(folder_ / "index.json", ignored);
}

void TensorFolderWriter::add(const StoredTensor& tensor, const std::string& role,
                             const std::function<void(const PutPart&)>& write) {
  const fs::path file = folder_ / fmt::format("{}.npy", written_.size());
  refuse_link(file);
  write_file_in_parts(file, [&](const PutPart& put) {
    put(npy_header(tensor.type, tensor.shape));
    write(put);
  });
  written_.push_back({tensor, role, file});
}

void TensorFolderWriter::finish(std::int64_t step) {
  Json index = {{"format", kFolderFormat}, {"version", kFolderVersion}, {"step", step}};
  Json& tensors = index["tensors"] = Json::array();
  for (const FolderTensor& written : written_) {
    tensors.push_back({{"name", written.tensor.name},
                       {"file", written.file.filename().string()},
                       {"role", written.role},
                       {"type", std::string(name_of(written.tensor.type))},
                       {"shape", written.tensor.shape}});
  }
  write_file(folder_ / "index.json", json_text(index, 1) + "\n");
}

std::unique_ptr<TensorSource> open_tensor_folder(const fs::path& folder) {
  return std::make_unique<FolderSource>(folder);
}

}  // namespace strato
