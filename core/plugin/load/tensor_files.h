// Tensors in files of formats that plugins know: the weights in a model file, and PyTorch's files.
//
// Throws InputError where no plugin serves the file. Thread-safe, as far as the registry is.
#pragma once

#include <filesystem>
#include <memory>

#include "core/data/tensor_source.h"
#include "core/plugin/load/plugin_registry.h"

namespace strato {

// The parameters that a model file holds, or files beside it, by the names of the graph that its
// importer makes with the same options; those that are nowhere are left out. Null where the format
// has no values at all, only an architecture.
std::unique_ptr<TensorSource> open_weights(const PluginRegistry& plugins,
                                           const std::filesystem::path& model,
                                           const ImportOptions& options);

// A file of torch.save(): one tensor (named ""), or a dictionary or list of tensors. Code in it is
// never run: what is no tensor is an InputError.
std::unique_ptr<TensorSource> open_pytorch(const PluginRegistry& plugins,
                                           const std::filesystem::path& file);
// Writes a dictionary that torch.load() reads.
void write_pytorch(const PluginRegistry& plugins, const std::filesystem::path& file,
                   const TensorSource& tensors);

}  // namespace strato

// In one .cpp file of an importer: std::unique_ptr<TensorSource> open(const path&, const
// ImportOptions&).
#define STRATOSCOPE_WEIGHTS(open)                                                  \
  extern "C" strato::TensorSource* stratoscope_open_weights(                       \
      const std::filesystem::path* file, const strato::ImportOptions* options) {   \
    return std::unique_ptr<strato::TensorSource>(open(*file, *options)).release(); \
  }
// In the compute engine "torch": std::unique_ptr<TensorSource> open(const path&), and
// void write(const path&, const TensorSource&).
#define STRATOSCOPE_PYTORCH_FILES(open, write)                                                   \
  extern "C" strato::TensorSource* stratoscope_open_pytorch(const std::filesystem::path* file) { \
    return std::unique_ptr<strato::TensorSource>(open(*file)).release();                         \
  }                                                                                              \
  extern "C" void stratoscope_write_pytorch(const std::filesystem::path* file,                   \
                                            const strato::TensorSource* tensors) {               \
    write(*file, *tensors);                                                                      \
  }
