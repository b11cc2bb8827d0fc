// The safetensors format: a length (8 bytes, little endian), a JSON header with name, type, shape
// and place of each tensor, and the elements. Plain data: safe to read, and to map.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/tensor_source.h"

namespace strato {

struct SafetensorsParts {
  std::vector<StoredTensor> tensors;
  std::vector<std::string_view> elements;  // of each; parts of the bytes that were parsed
  std::map<std::string, std::string> metadata;
};
// Throws InputError as open_safetensors() does. `file`: its name, for messages.
SafetensorsParts parse_safetensors(std::string_view bytes, const std::string& file);
// Everything that stands before the elements of these tensors, which follow in this order.
std::string safetensors_head(const std::vector<StoredTensor>& tensors,
                             const std::map<std::string, std::string>& metadata);

// Throws InputError when the file is damaged or has types that nothing here computes with.
std::unique_ptr<TensorSource> open_safetensors(const std::filesystem::path& file);

// Throws InputError.
void write_safetensors(const std::filesystem::path& file, const TensorSource& tensors);

}  // namespace strato
