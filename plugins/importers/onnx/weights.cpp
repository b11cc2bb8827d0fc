// The plugin's other entry: the elements of a model's parameters are read from the ONNX file itself
// and from files beside it.
#include <fmt/format.h>

#include <map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/data/tensor_source.h"
#include "core/io/file.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/tensor_files.h"
#include "plugins/importers/onnx/read/stored_bytes.h"
#include "plugins/importers/onnx/read/value.h"
#include "plugins/importers/onnx/training/training.h"
#include "plugins/importers/onnx/translate/translate.h"

namespace strato::onnx_import {
namespace {

namespace fs = std::filesystem;
using onnx::TensorProto;

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr const char* kCopyAgain = "copy or export the model again";

// Has the weights by the names that the imported graph has. Tensors of which the file holds
// nothing, or only the name of a file that is not there, are left out.
class OnnxWeights final : public TensorSource {
 public:
  // Throws InputError, as importing does.
  OnnxWeights(const fs::path& file, const ImportOptions& options)
      : name_(file.string()), folder_(file.parent_path()) {
    std::vector<std::string> remarks;
    Model model = read_forward_model(file, remarks);
    model.with_weights = true;
    for (const Entry& entry : translate_model(model, options).entries) add(entry);
  }

  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  std::string note() const override { return note_; }

  void read(std::size_t index, const PutPart& put) const override {
    const TensorProto& origin = *origins_[index];
    if (!is_readable(origin.data_type()))
      fail(index, "is of a type that cannot be trained", "convert it to float32");
    if (origin.data_location() == TensorProto::EXTERNAL) return read_external(index, put);
    if (const auto payload = payload_of(origin)) return read_payload(index, *payload, put);
    const std::shared_ptr<const Value> value = read_value(origin, folder_);
    if (value == nullptr) fail(index, "is not whole, or stored in parts", kCopyAgain);
    const std::string elements = little_endian(*value);
    if (value->size() != 1) return put_all(index, elements, put);
    for (std::size_t left = bytes_of(index); left > 0; left -= elements.size()) put(elements);
  }

 private:
  void add(const Entry& entry) {
    if (entry.origin == nullptr) return;
    if (entry.origin->data_location() == TensorProto::EXTERNAL) {
      const ExternalPlace place = external_place(*entry.origin, folder_);
      if (place.absent) {
        note_ = place.problem;
        return;
      }
    }
    StoredTensor tensor{graph_name(entry.name), entry.facts.type, entry.facts.shape};
    if (!names_.insert(tensor.name).second) return;
    tensors_.push_back(std::move(tensor));
    origins_.push_back(entry.origin);
  }

  [[noreturn]] void fail(std::size_t index, const std::string& problem,
                         const std::string& remedy) const {
    throw InputError(name_, "\"" + tensors_[index].name + "\"", problem, remedy);
  }

  std::size_t bytes_of(std::size_t index) const {
    return static_cast<std::size_t>(strato::bytes_of(tensors_[index]));
  }

  void check_size(std::size_t index, std::size_t bytes) const {
    if (bytes == bytes_of(index)) return;
    fail(index, fmt::format("has {} bytes instead of {}", bytes, bytes_of(index)), kCopyAgain);
  }

  void put_all(std::size_t index, std::string_view elements, const PutPart& put) const {
    check_size(index, elements.size());
    put(elements);
  }

  void read_external(std::size_t index, const PutPart& put) const {
    const ExternalPlace place = external_place(*origins_[index], folder_);
    if (!place.problem.empty()) fail(index, place.problem, "put the model's files into one folder");
    const std::size_t bytes = bytes_of(index);
    check_size(index, place.length.value_or(bytes));
    const std::string_view content = bytes == 0 ? std::string_view() : mapped(place.file);
    if (place.offset > content.size() || bytes > content.size() - place.offset)
      fail(index,
           fmt::format("needs {} bytes from {} on of \"{}\", which has {}", bytes, place.offset,
                       place.file.filename().string(), content.size()),
           kCopyAgain);
    put(content.substr(place.offset, bytes));
  }

  void read_payload(std::size_t index, const Payload& payload, const PutPart& put) const {
    const std::string_view model = mapped(name_);
    if (payload.offset > model.size() || payload.size > model.size() - payload.offset)
      fail(index, "is not whole", kCopyAgain);
    const std::string_view content = model.substr(payload.offset, payload.size);
    // Other fields hold packed numbers of varying length.
    if (is_plain(payload.field)) return put_all(index, content, put);
    read_numbers(index, content, put);
  }

  void read_numbers(std::size_t index, std::string_view content, const PutPart& put) const {
    const auto width = static_cast<std::size_t>(size_of(tensors_[index].type));
    std::size_t at = 0, total = 0;
    std::string piece;
    for (std::uint64_t number = 0; read_varint(content, at, number);) {
      piece.append(reinterpret_cast<const char*>(&number), width);
      total += width;
      if (piece.size() < kPieceBytes) continue;
      put(piece);
      piece.clear();
    }
    put(piece);
    if (at != content.size() || total != bytes_of(index))
      fail(index, "has another number of elements than its shape says", kCopyAgain);
  }

  std::string_view mapped(const fs::path& file) const {
    std::unique_ptr<MappedFile>& open = files_[file];
    if (open == nullptr) open = std::make_unique<MappedFile>(file, "the file of the weights");
    return open->bytes();
  }

  std::string name_;
  fs::path folder_;
  std::string note_;
  std::vector<StoredTensor> tensors_;
  std::vector<std::shared_ptr<const TensorProto>> origins_;
  std::unordered_set<std::string> names_;
  mutable std::map<fs::path, std::unique_ptr<MappedFile>> files_;
};

}  // namespace
}  // namespace strato::onnx_import

STRATOSCOPE_WEIGHTS(std::make_unique<strato::onnx_import::OnnxWeights>)
