#include "core/data/tensor_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/data/npy.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolderFormat = "stratoscope-checkpoint";
constexpr int kFolderVersion = 1;

FolderTensor tensor_in(const JsonView& view, const fs::path& folder) {
  FolderTensor tensor;
  tensor.tensor.name = view.at("name").string();
  const auto type =
      type_called(view.at("type").string(), [](DataType each) { return name_of(each); });
  if (!type) view.at("type").fail("is no type of elements", "take another checkpoint");
  tensor.tensor.type = *type;
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
      const NpyFile& file = files_.emplace_back(tensor.file);
      if (file.type() == tensor.tensor.type && file.shape() == tensor.tensor.shape) continue;
      throw InputError(tensor.file.string(), "", "is of another type or shape than in index.json",
                       "take another checkpoint");
    }
  }
  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void read(std::size_t index, const PutPart& put) const override { put(files_[index].elements()); }

 private:
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

// ---- weights

constexpr std::size_t kTold = 5;  // names in a message

using Index = std::unordered_map<std::string, std::size_t>;

Index index_of(const TensorSource& source) {
  Index index;
  for (std::size_t i = 0; i < source.tensors().size(); ++i)
    index.emplace(source.tensors()[i].name, i);
  return index;
}

bool takes(const Tensor& tensor) {
  return tensor.role == TensorRole::Parameter || is_unknown_constant(tensor);
}

void check_fit(const Tensor& tensor, const StoredTensor& stored, const std::string& file) {
  const std::string place = fmt::format("\"{}\"", tensor.name);
  if (stored.shape != tensor.shape)
    throw InputError(file, place,
                     fmt::format("has shape [{}], and the model's parameter [{}]",
                                 fmt::join(stored.shape, ", "), fmt::join(tensor.shape, ", ")),
                     "give the weights of this model");
  if (!widens(stored.type, tensor.type))
    throw InputError(file, place,
                     fmt::format("is {}, and the model's parameter {}", name_of(stored.type),
                                 name_of(tensor.type)),
                     fmt::format("store it as {}", name_of(tensor.type)));
}

// Pieces of whole elements: what is left of one goes before the next.
class Converter {
 public:
  Converter(DataType from, DataType to, const PutPart& put) : from_(from), to_(to), put_(put) {}
  void operator()(std::string_view bytes) {
    if (from_ == to_ && rest_.empty() && bytes.size() % width() == 0) return pass(bytes);
    rest_ += bytes;
    const std::size_t whole = rest_.size() / width() * width();
    pass(std::string_view(rest_).substr(0, whole));
    rest_.erase(0, whole);
  }
  bool not_finite() const { return not_finite_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t width() const { return static_cast<std::size_t>(size_of(from_)); }
  void pass(std::string_view elements) {
    not_finite_ = not_finite_ || has_not_finite(elements, from_);
    bytes_ += elements.size();
    if (from_ == to_) return put_(elements);
    const auto wide = converted(elements, from_, to_);
    CHECK(wide.has_value(), "a weight that does not fit");
    put_(*wide);
  }

  DataType from_, to_;
  const PutPart& put_;
  std::string rest_;
  bool not_finite_ = false;
  std::size_t bytes_ = 0;
};

// True: it holds a NaN or an infinity.
bool stage_one(TensorFolderWriter& writer, const Tensor& tensor, const TensorSource& source,
               std::size_t index) {
  const StoredTensor& stored = source.tensors()[index];
  bool not_finite = false;
  const char* role = tensor.role == TensorRole::Parameter ? "parameter" : "constant";
  writer.add({tensor.name, tensor.type, tensor.shape}, role, [&](const PutPart& put) {
    Converter convert(stored.type, tensor.type, put);
    source.read(index, [&convert](std::string_view bytes) { convert(bytes); });
    const auto expected = static_cast<std::size_t>(tensor.elements() * size_of(stored.type));
    if (convert.bytes() != expected)
      throw InputError(source.file(), "\"" + tensor.name + "\"",
                       fmt::format("has {} bytes instead of {}", convert.bytes(), expected),
                       "write or copy the file again");
    not_finite = convert.not_finite();
  });
  return not_finite;
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

std::string names_text(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kTold));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > kTold) text += fmt::format(" and {} more", names.size() - kTold);
  return text;
}

bool is_unknown_constant(const Tensor& tensor) {
  return tensor.role == TensorRole::Constant && !tensor.data && !tensor.producer.valid() &&
         tensor.elements() > 1;
}

std::vector<std::string> missing_parameters(const Graph& graph, const TensorSource& source) {
  const Index index = index_of(source);
  std::vector<std::string> missing;
  for (const Tensor& tensor : graph.tensors())
    if (tensor.role == TensorRole::Parameter && !index.contains(tensor.name))
      missing.push_back(tensor.name);
  return missing;
}

void check_weights(const Graph& graph, const TensorSource& source) {
  const std::vector<std::string> missing = missing_parameters(graph, source);
  if (!missing.empty()) {
    const std::string note = source.note().empty() ? "" : " (" + source.note() + ")";
    throw InputError(source.file(), "", "has no values for " + names_text(missing) + note,
                     "give the weights of this model, or --weights seeded");
  }
  const Index index = index_of(source);
  for (const Tensor& tensor : graph.tensors()) {
    const auto at = index.find(tensor.name);
    if (takes(tensor) && at != index.end())
      check_fit(tensor, source.tensors()[at->second], source.file());
  }
}

WeightsReport stage_weights(const std::filesystem::path& job, const Graph& graph,
                            const TensorSource& source) {
  check_weights(graph, source);
  const Index index = index_of(source);
  std::unordered_set<std::string> used;
  WeightsReport report;
  TensorFolderWriter writer(weights_folder(job));
  for (const Tensor& tensor : graph.tensors()) {
    const auto at = index.find(tensor.name);
    if (!takes(tensor) || at == index.end() || !used.insert(tensor.name).second) continue;
    if (stage_one(writer, tensor, source, at->second)) report.not_finite.push_back(tensor.name);
    if (tensor.role == TensorRole::Parameter) ++report.parameters;
    report.bytes += tensor.bytes().value;
  }
  for (const StoredTensor& stored : source.tensors())
    if (!used.contains(stored.name)) report.unused.push_back(stored.name);
  writer.finish(0);
  return report;
}

}  // namespace strato
