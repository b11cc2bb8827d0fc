#include "core/data/safetensors.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/io/mapped_file.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostHeader = 100'000'000;  // by the format
constexpr const char* kNoTensor = "__metadata__";
constexpr const char* kSaveAgain = "save or copy the file again";

constexpr std::array<std::pair<DataType, std::string_view>, 10> kTypes = {
    {{DataType::F64, "F64"},
     {DataType::F32, "F32"},
     {DataType::F16, "F16"},
     {DataType::BF16, "BF16"},
     {DataType::I64, "I64"},
     {DataType::I32, "I32"},
     {DataType::I16, "I16"},
     {DataType::I8, "I8"},
     {DataType::U8, "U8"},
     {DataType::Bool, "BOOL"}}};

std::string_view word_of(DataType type) {
  for (const auto& [known, word] : kTypes) {
    if (known == type) return word;
  }
  CHECK(false, "a type that safetensors has no name for");
}

DataType type_of_word(const JsonView& view) {
  const std::string word = view.string();
  for (const auto& [type, known] : kTypes) {
    if (known == word) return type;
  }
  view.fail("is a type that is not read", "save float32");
}

std::int64_t bytes_of(const StoredTensor& tensor) {
  std::int64_t bytes = size_of(tensor.type);
  for (const std::int64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

class SafetensorsFile final : public TensorSource {
 public:
  explicit SafetensorsFile(const fs::path& file)
      : name_(file.string()), file_(file, "a .safetensors file") {
    const std::string_view content = file_.bytes();
    std::uint64_t size = 0;
    if (content.size() >= sizeof size) std::memcpy(&size, content.data(), sizeof size);
    if (size == 0 || size > kMostHeader || size > content.size() - sizeof size)
      throw InputError(name_, "", "is not a .safetensors file, or a damaged one", kSaveAgain);
    elements_ = content.substr(sizeof size + size);
    const JsonView header = JsonView::parse(content.substr(sizeof size, size), name_);
    for (const auto& [name, tensor] : header.members()) {
      if (name != kNoTensor) add(name, tensor);
    }
  }

  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void read(std::size_t index, const PutPart& put) const override { put(parts_[index]); }

 private:
  void add(const std::string& name, const JsonView& view) {
    StoredTensor tensor{name, type_of_word(view.at("dtype")), {}};
    for (const JsonView& extent : view.at("shape").items())
      tensor.shape.push_back(extent.integer(0));
    const std::vector<JsonView> offsets = view.at("data_offsets").items();
    if (offsets.size() != 2) view.at("data_offsets").fail("is not begin and end", kSaveAgain);
    const auto size = static_cast<std::int64_t>(elements_.size());
    const std::int64_t begin = offsets[0].integer(0, size), end = offsets[1].integer(begin, size);
    if (end - begin != bytes_of(tensor))
      view.at("data_offsets").fail("does not fit type and shape", kSaveAgain);
    parts_.push_back(
        elements_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    tensors_.push_back(std::move(tensor));
  }

  std::string name_;
  MappedFile file_;
  std::string_view elements_;
  std::vector<StoredTensor> tensors_;
  std::vector<std::string_view> parts_;
};

std::string header_of(const TensorSource& source) {
  Json header = {{kNoTensor, {{"format", "pt"}}}};
  std::int64_t at = 0;
  for (const StoredTensor& tensor : source.tensors()) {
    const std::int64_t end = at + bytes_of(tensor);
    header[tensor.name] = {
        {"dtype", word_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = json_text(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // the elements are aligned
  return text;
}

}  // namespace

std::unique_ptr<TensorSource> open_safetensors(const fs::path& file) {
  return std::make_unique<SafetensorsFile>(file);
}

void write_safetensors(const fs::path& file, const TensorSource& tensors) {
  write_file_in_parts(file, [&tensors](const PutPart& put) {
    const std::string header = header_of(tensors);
    const std::uint64_t size = header.size();
    put({reinterpret_cast<const char*>(&size), sizeof size});
    put(header);
    for (std::size_t i = 0; i < tensors.tensors().size(); ++i) tensors.read(i, put);
  });
}

}  // namespace strato
