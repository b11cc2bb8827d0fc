// The elements of a model's parameters, from the file itself and from files beside it.
#pragma once

#include <filesystem>
#include <memory>

#include "core/data/tensor_source.h"
#include "core/plugin/api/plugin.h"

namespace strato::onnx_import {

// Opens the weights by the names that the imported graph has. Tensors of which the file holds
// nothing, or only the name of a file that is not there, are left out. Throws InputError.
std::unique_ptr<TensorSource> open_weights(const std::filesystem::path& file,
                                           const ImportOptions& options);

}  // namespace strato::onnx_import
