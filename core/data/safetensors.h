// The safetensors format: a length (8 bytes, little endian), a JSON header with name, type, shape
// and place of each tensor, and the elements. Plain data: safe to read, and to map. Include in .cpp
// files only. Thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/tensor_source.h"
#include "core/io/container.h"

namespace strato {

// Throws InputError when the file is damaged or has types that nothing here computes with.
std::unique_ptr<TensorSource> open_safetensors(const std::filesystem::path& file);

// Throws InputError.
void write_safetensors(const std::filesystem::path& file, const TensorSource& tensors);

// The container of tensors that the program keeps (weights and checkpoints of learned planners): a
// .safetensors file, which other programs read, whose metadata hold the kind, its version, notes in
// JSON, and a digest over all of it. Reading is strict as that of values (core/io/container.h).
struct TensorArchive {
  struct Entry {
    StoredTensor tensor;
    std::string elements;  // little endian, row by row
  };
  Json notes = Json::object();
  std::vector<Entry> entries;  // each name once

  void add_floats(std::string name, Shape shape, std::span<const float> values);
};

struct ReadArchive {
  std::uint32_t version;  // from 1 to the kind's
  JsonView notes;
  std::vector<TensorArchive::Entry> entries;
  std::string file;  // for messages

  // The elements of the tensor of this name; throws InputError when there is none, when its
  // elements are no floats, and when one of them is not finite.
  std::vector<float> floats(std::string_view name) const;
};

std::string write_archive(const ContainerKind& kind, const TensorArchive& archive);
bool is_archive(std::string_view bytes);  // as far as its first bytes tell
// `file` is used in messages. Throws InputError.
ReadArchive read_archive(std::string_view bytes, const ContainerKind& kind,
                         const std::string& file);

}  // namespace strato
