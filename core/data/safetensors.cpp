#include "core/data/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/number_from.h"

namespace strato {
namespace {

namespace fs = std::filesystem;
using Metadata = std::map<std::string, std::string>;

constexpr std::uint64_t kMostHeader = 100'000'000;  // by the format
constexpr const char* kNoTensor = "__metadata__";
constexpr const char* kSaveAgain = "save or copy the file again";

constexpr std::array<std::string_view, 10> kTypes = {  // by DataType
    "F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"};

std::string_view word_of(DataType type) { return kTypes[static_cast<std::size_t>(type)]; }

struct SafetensorsParts {
  std::vector<StoredTensor> tensors;
  std::vector<std::string_view> elements;  // of each; parts of the bytes that were parsed
  Metadata metadata;
};

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

// Everything that stands before the elements of these tensors, which follow in this order.
std::string safetensors_head(const std::vector<StoredTensor>& tensors, const Metadata& metadata) {
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

// ---- the archive

// Keys of the metadata, whose values are texts by the format.
constexpr const char* kKind = "stratoscope";
constexpr const char* kVersion = "version";
constexpr const char* kNotes = "notes";
constexpr const char* kDigest = "digest";

std::string digest_text(const SafetensorsParts& parts) {
  Hasher hasher;
  for (const char* key : {kKind, kVersion, kNotes}) hasher.text(parts.metadata.at(key));
  for (std::size_t i = 0; i < parts.tensors.size(); ++i) {
    const StoredTensor& tensor = parts.tensors[i];
    hasher.text(tensor.name).number(tensor.type);
    hasher.numbers(std::span<const std::int64_t>(tensor.shape)).text(parts.elements[i]);
  }
  return hasher.finish().hex();
}

// Throws unless every byte is accounted for and the archive is one of the kind; returns its
// version.
std::uint32_t checked_version(const SafetensorsParts& parts, std::string_view bytes,
                              const ContainerKind& kind, const std::string& file) {
  const Metadata& metadata = parts.metadata;
  if (!metadata.contains(kKind)) kind.refuse(file, fmt::format("does not hold {}", kind.thing));
  for (const char* key : {kVersion, kNotes, kDigest})
    if (!metadata.contains(key)) kind.refuse_damaged(file, fmt::format("it has no {}", key));
  if (metadata.at(kDigest) != digest_text(parts))
    kind.refuse_damaged(file, "its content does not match its digest");
  // The elements follow each other from the header to the end: no byte is outside the digest.
  const char* at = bytes.data() + bytes.size();
  for (auto part = parts.elements.rbegin(); part != parts.elements.rend(); ++part) {
    if (part->data() + part->size() != at)
      kind.refuse_damaged(file, "it has bytes between its tensors");
    at = part->data();
  }
  if (bytes.substr(0, std::size_t(at - bytes.data())) != safetensors_head(parts.tensors, metadata))
    kind.refuse_damaged(file, "its header is not as it was written");
  const auto version = number_from<std::uint32_t>(metadata.at(kVersion)).value_or(0);
  kind.check(file, metadata.at(kKind), version);
  return version;
}

}  // namespace

std::unique_ptr<TensorSource> open_safetensors(const fs::path& file) {
  return std::make_unique<SafetensorsFile>(file);
}

void write_safetensors(const fs::path& file, const TensorSource& tensors) {
  write_file_in_parts(file, [&tensors](const PutPart& put) {
    put(safetensors_head(tensors.tensors(), {{"format", "pt"}}));
    for (std::size_t i = 0; i < tensors.tensors().size(); ++i) tensors.read(i, put);
  });
}

void TensorArchive::add_floats(std::string name, Shape shape, std::span<const float> values) {
  entries.push_back({{std::move(name), DataType::F32, std::move(shape)},
                     {reinterpret_cast<const char*>(values.data()), values.size_bytes()}});
}

std::vector<float> ReadArchive::floats(std::string_view name) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [name](const auto& entry) { return entry.tensor.name == name; });
  const auto refuse = [&](const char* problem) {
    throw InputError(file, std::string(name), problem, "give another file");
  };
  if (found == entries.end()) refuse("is not there");
  if (found->tensor.type != DataType::F32) refuse("is no tensor of float32");
  if (has_not_finite(found->elements, DataType::F32)) refuse("has a value that is not finite");
  std::vector<float> values(found->elements.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), found->elements.data(), found->elements.size());
  return values;
}

bool is_archive(std::string_view bytes) {
  return bytes.size() > sizeof(std::uint64_t) && bytes[sizeof(std::uint64_t)] == '{';
}

std::string write_archive(const ContainerKind& kind, const TensorArchive& archive) {
  SafetensorsParts parts;
  for (const TensorArchive::Entry& entry : archive.entries) {
    CHECK(bytes_of(entry.tensor) == static_cast<std::int64_t>(entry.elements.size()),
          "the elements of " + entry.tensor.name + " do not fit its shape");
    parts.tensors.push_back(entry.tensor);
    parts.elements.push_back(entry.elements);
  }
  parts.metadata = {{kKind, std::string(kind.name)},
                    {kVersion, fmt::to_string(kind.version)},
                    {kNotes, json_text(archive.notes)}};
  parts.metadata.emplace(kDigest, digest_text(parts));
  std::string bytes = safetensors_head(parts.tensors, parts.metadata);
  for (const std::string_view elements : parts.elements) bytes += elements;
  return bytes;
}

ReadArchive read_archive(std::string_view bytes, const ContainerKind& kind,
                         const std::string& file) {
  const SafetensorsParts parts = parse_safetensors(bytes, file);
  const std::uint32_t version = checked_version(parts, bytes, kind, file);
  std::vector<TensorArchive::Entry> entries;
  for (std::size_t i = 0; i < parts.tensors.size(); ++i)
    entries.push_back({parts.tensors[i], std::string(parts.elements[i])});
  return {version, JsonView::parse(parts.metadata.at(kNotes), file), std::move(entries), file};
}

}  // namespace strato
