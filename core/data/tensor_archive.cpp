#include "core/data/tensor_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/convert.h"
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

class ArchiveReader {
 public:
  ArchiveReader(std::string_view bytes, const ContainerKind& kind, const std::string& file)
      : bytes_(bytes), kind_(kind), file_(file), parts_(parse_safetensors(bytes, file)) {}

  // Throws unless every byte is accounted for and the archive is one of the kind.
  std::uint32_t checked_version() const {
    check_metadata();
    check_whole();
    const std::string& kind = parts_.metadata.at(kKind);
    if (kind != kind_.name)
      refuse(fmt::format("holds a {}, not {}", kind.substr(0, 64), kind_.thing));
    const std::string& text = parts_.metadata.at(kVersion);
    std::uint32_t version = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc() || end != text.data() + text.size() || version == 0)
      refuse_damaged("it has no version");
    if (version > kind_.version)
      throw InputError(file_, "", "was written by a newer version of the program",
                       "update the program");
    return version;
  }
  JsonView notes() const { return JsonView::parse(parts_.metadata.at(kNotes), file_); }
  std::vector<TensorArchive::Entry> entries() const {
    std::vector<TensorArchive::Entry> entries;
    for (std::size_t i = 0; i < parts_.tensors.size(); ++i)
      entries.push_back({parts_.tensors[i], std::string(parts_.elements[i])});
    return entries;
  }

 private:
  void check_metadata() const {
    if (!parts_.metadata.contains(kKind)) refuse(fmt::format("does not hold {}", kind_.thing));
    for (const char* key : {kVersion, kNotes, kDigest})
      if (!parts_.metadata.contains(key)) refuse_damaged(fmt::format("it has no {}", key));
    if (parts_.metadata.at(kDigest) !=
        digest_text(parts_.metadata, parts_.tensors, parts_.elements))
      refuse_damaged("its content does not match its digest");
  }
  // The elements follow each other from the header to the end: no byte is outside the digest.
  void check_whole() const {
    const char* at = bytes_.data() + bytes_.size();
    for (auto part = parts_.elements.rbegin(); part != parts_.elements.rend(); ++part) {
      if (part->data() + part->size() != at) refuse_damaged("it has bytes between its tensors");
      at = part->data();
    }
    if (bytes_.substr(0, std::size_t(at - bytes_.data())) !=
        safetensors_head(parts_.tensors, parts_.metadata))
      refuse_damaged("its header is not as it was written");
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw InputError(file_, "", problem, kind_.remedy);
  }
  [[noreturn]] void refuse_damaged(const std::string& how) const {
    refuse(fmt::format("{} is damaged: {}", kind_.thing, how));
  }

  std::string_view bytes_;
  const ContainerKind& kind_;
  const std::string& file_;
  SafetensorsParts parts_;
};

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
  const ArchiveReader reader(bytes, kind, file);
  const std::uint32_t version = reader.checked_version();
  return {version, reader.notes(), reader.entries(), file};
}

}  // namespace strato
