// Files of torch.save(), with tensors only: LibTorch reads them without a Python interpreter, and
// refuses what is neither a tensor nor a plain container.
#pragma once

#include <filesystem>
#include <memory>

#include "core/data/tensor_source.h"

namespace strato::torch_engine {

// See core/plugin/load/tensor_files.h. Throws InputError.
std::unique_ptr<TensorSource> open_pytorch(const std::filesystem::path& file);
void write_pytorch(const std::filesystem::path& file, const TensorSource& tensors);

}  // namespace strato::torch_engine
