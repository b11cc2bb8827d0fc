#include "core/data/tensor_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/data/npy.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderFormat = "stratoscope-checkpoint";
constexpr int kFolderVersion = 1;
constexpr const char* kMakeRoom = "make room, or choose a job folder that you may write to";

class OutputFile {
 public:
  explicit OutputFile(const fs::path& file)
      : name_(file.string()),
        handle_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)) {
    if (handle_ < 0) fail();
  }
  ~OutputFile() {
    if (handle_ >= 0) ::close(handle_);
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(handle_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void sync() {
    if (::fsync(handle_) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(name_, "", std::string("cannot be written: ") + std::strerror(errno),
                     kMakeRoom);
  }
  std::string name_;
  int handle_;
};

// A number and ".npy": it cannot leave the folder.
bool is_own_file(const std::string& name) {
  return name.size() > 4 && name.ends_with(".npy") &&
         name.find_first_not_of("0123456789") == name.size() - 4;
}

DataType tensor_type(const JsonView& view) {
  const std::string name = view.string();
  for (int i = 0; i <= static_cast<int>(DataType::Bool); ++i) {
    if (name_of(static_cast<DataType>(i)) == name) return static_cast<DataType>(i);
  }
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
  if (!is_own_file(file))
    view.at("file").fail("is not a file of the checkpoint", "resume from another checkpoint");
  tensor.file = folder / file;
  return tensor;
}

class FolderSource final : public TensorSource {
 public:
  explicit FolderSource(const fs::path& folder) : name_((folder / "index.json").string()) {
    for (FolderTensor& tensor : read_tensor_folder(folder).tensors) {
      if (tensor.role == "state") continue;
      tensors_.push_back(tensor.tensor);
      files_.push_back(std::move(tensor.file));
    }
  }
  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void read(std::size_t index, const Take& take) const override {
    const NpyFile file(files_[index]);
    if (file.type() != tensors_[index].type || file.shape() != tensors_[index].shape) {
      throw InputError(files_[index].string(), "", "is of another type or shape than in index.json",
                       "take another checkpoint");
    }
    take(file.elements());
  }

 private:
  std::string name_;
  std::vector<StoredTensor> tensors_;
  std::vector<fs::path> files_;
};

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

TensorFolderWriter::TensorFolderWriter(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw InputError(folder_.string(), "", "cannot be made: " + error.message(), kMakeRoom);
  fs::remove(folder_ / "index.json", error);
}

void TensorFolderWriter::add(const StoredTensor& tensor, const std::string& role,
                             const std::function<void(const TensorSource::Take&)>& write) {
  const fs::path file = folder_ / (std::to_string(written_.size()) + ".npy");
  OutputFile out(file);
  out.write(npy_header(tensor.type, tensor.shape));
  write([&out](std::string_view bytes) { out.write(bytes); });
  out.sync();
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
  write_file(folder_ / "index.json", index.dump(1) + "\n");
}

std::unique_ptr<TensorSource> open_tensor_folder(const fs::path& folder) {
  return std::make_unique<FolderSource>(folder);
}

}  // namespace strato
