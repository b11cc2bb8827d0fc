#include "core/data/tensor_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/safetensors.h"

namespace strato {
namespace {

// Keys of the metadata, whose values are texts by the format.
constexpr const char* kKind = "stratoscope";
constexpr const char* kVersion = "version";
constexpr const char* kNotes = "notes";
constexpr const char* kDigest = "digest";

using Metadata = std::map<std::string, std::string>;

std::string digest_text(const Metadata& metadata, const std::vector<StoredTensor>& tensors,
                        const std::vector<std::string_view>& elements) {
  Hasher hasher;
  for (const char* key : {kKind, kVersion, kNotes}) hasher.text(metadata.at(key));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    hasher.text(tensors[i].name).number(tensors[i].type);
    hasher.numbers(std::span<const std::int64_t>(tensors[i].shape)).text(elements[i]);
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
  if (metadata.at(kDigest) != digest_text(metadata, parts.tensors, parts.elements))
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
  const std::string& text = metadata.at(kVersion);
  std::uint32_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) version = 0;
  kind.check(file, metadata.at(kKind), version);
  return version;
}

}  // namespace

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
  std::vector<StoredTensor> tensors;
  std::vector<std::string_view> elements;
  for (const TensorArchive::Entry& entry : archive.entries) {
    CHECK(bytes_of(entry.tensor) == static_cast<std::int64_t>(entry.elements.size()),
          "the elements of " + entry.tensor.name + " do not fit its shape");
    tensors.push_back(entry.tensor);
    elements.push_back(entry.elements);
  }
  Metadata metadata = {{kKind, std::string(kind.name)},
                       {kVersion, fmt::to_string(kind.version)},
                       {kNotes, json_text(archive.notes)}};
  metadata.emplace(kDigest, digest_text(metadata, tensors, elements));
  std::string bytes = safetensors_head(tensors, metadata);
  for (const std::string_view part : elements) bytes += part;
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
