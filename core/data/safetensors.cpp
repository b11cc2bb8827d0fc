#include "core/data/safetensors.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostHeader = 100'000'000;  // by the format
constexpr const char* kNoTensor = "__metadata__";
constexpr const char* kSaveAgain = "save or copy the file again";

constexpr std::array<std::string_view, 10> kTypes = {  // by DataType
    "F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"};

std::string_view word_of(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }

DataType type_in(const JsonView& view) {
  if (const auto type = type_called(view.string(), word_of)) return *type;
  view.fail("is a type that is not read", "save float32");
}

void add(const std::string& name, const JsonView& view, std::string_view elements,
         SafetensorsParts& parts) {
  StoredTensor tensor{name, type_in(view.at("dtype")), {}};
  for (const JsonView& extent : view.at("shape").items()) tensor.shape.push_back(extent.integer(0));
  const std::vector<JsonView> offsets = view.at("data_offsets").items();
  if (offsets.size() != 2) view.at("data_offsets").fail("is not begin and end", kSaveAgain);
  const auto size = static_cast<std::int64_t>(elements.size());
  const std::int64_t begin = offsets[0].integer(0, size), end = offsets[1].integer(begin, size);
  if (end - begin != bytes_of(tensor))
    view.at("data_offsets").fail("does not fit type and shape", kSaveAgain);
  parts.elements.push_back(
      elements.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  parts.tensors.push_back(std::move(tensor));
}

class SafetensorsFile final : public TensorSource {
 public:
  explicit SafetensorsFile(const fs::path& file)
      : name_(file.string()),
        file_(file, "a .safetensors file"),
        parts_(parse_safetensors(file_.bytes(), name_)) {}

  const std::string& file() const override { return name_; }
  const std::vector<StoredTensor>& tensors() const override { return parts_.tensors; }
  void read(std::size_t index, const PutPart& put) const override { put(parts_.elements[index]); }

 private:
  std::string name_;
  MappedFile file_;
  SafetensorsParts parts_;
};

}  // namespace

SafetensorsParts parse_safetensors(std::string_view bytes, const std::string& file) {
  std::uint64_t size = 0;
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (size == 0 || size > kMostHeader || size > bytes.size() - sizeof size)
    throw InputError(file, "", "is not a .safetensors file, or a damaged one", kSaveAgain);
  const JsonView header = JsonView::parse(bytes.substr(sizeof size, size), file);
  SafetensorsParts parts;
  for (const auto& [name, view] : header.members()) {
    if (name != kNoTensor) add(name, view, bytes.substr(sizeof size + size), parts);
    if (name != kNoTensor || !view.is_object()) continue;
    for (const auto& [key, value] : view.members())
      if (value.is_string()) parts.metadata.emplace(key, value.string());
  }
  return parts;
}

std::string safetensors_head(const std::vector<StoredTensor>& tensors,
                             const std::map<std::string, std::string>& metadata) {
  Json header = {{kNoTensor, metadata}};
  std::int64_t at = 0;
  for (const StoredTensor& tensor : tensors) {
    const std::int64_t end = at + bytes_of(tensor);
    header[tensor.name] = {
        {"dtype", word_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = json_text(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // the elements are aligned
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text;
}

std::unique_ptr<TensorSource> open_safetensors(const fs::path& file) {
  return std::make_unique<SafetensorsFile>(file);
}

void write_safetensors(const fs::path& file, const TensorSource& tensors) {
  write_file_in_parts(file, [&tensors](const PutPart& put) {
    put(safetensors_head(tensors.tensors(), {{"format", "pt"}}));
    for (std::size_t i = 0; i < tensors.tensors().size(); ++i) tensors.read(i, put);
  });
}

}  // namespace strato
