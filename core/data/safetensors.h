// The safetensors format: a length (8 bytes, little endian), a JSON header with name, type, shape
// and place of each tensor, and the elements. Plain data: safe to read, and to map.
#pragma once

#include <filesystem>
#include <memory>

#include "core/data/tensor_source.h"

namespace strato {

// Throws InputError when the file is damaged or has types that nothing here computes with.
std::unique_ptr<TensorSource> open_safetensors(const std::filesystem::path& file);

// Throws InputError.
void write_safetensors(const std::filesystem::path& file, const TensorSource& tensors);

}  // namespace strato
