// Executions of a graph and of a rank share these: tensors from and to elements and files,
// defaults, the memory in use, and the library's refusals in our words. Include in .cpp files only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/data/tensor_source.h"
#include "core/plugin/api/engine.h"
#include "plugins/engines/torch/values/aten.h"
#include "plugins/engines/torch/values/made_elements.h"

namespace strato::torch_engine {

at::ScalarType scalar_type(DataType type);

// All samples, with what the options say; the learning rate has a default.
Shard whole_batch(const Graph& graph, const EngineOptions& options);

// The elements are little endian. Throws InputError naming the tensor when their number is wrong.
at::Tensor from_elements(const Tensor& tensor, const Shape& shape, const std::string& elements);
std::string elements_of(const at::Tensor& value);

// Files of torch.save(), with tensors only: LibTorch reads them without a Python interpreter, and
// refuses what is neither a tensor nor a plain container. See core/plugin/load/tensor_files.h.
// These throw InputError.
std::unique_ptr<TensorSource> open_pytorch(const std::filesystem::path& file);
void write_pytorch(const std::filesystem::path& file, const TensorSource& tensors);

// Throws InputError when this machine has no such device.
void check_device(const std::string& device);

// The first line of the library's message, without where in its sources it comes from.
std::string reason_of(const c10::Error& error);
[[noreturn]] void refuse(const Op& op, const std::string& reason);
[[noreturn]] void refuse(const std::string& place, const std::string& reason,
                         const std::string& remedy = "take a smaller batch");
[[noreturn]] void refuse_model(const c10::Error& error);
// Makes an execution of a model, which the library may refuse.
template <class Made, class... Model>
std::unique_ptr<Made> prepared(const EngineOptions& options, Model&&... model) {
  check_device(options.device);
  try {
    return std::make_unique<Made>(std::forward<Model>(model)..., options);
  } catch (const c10::Error& error) {
    refuse_model(error);
  }
}

// The memory that the library's CPU allocator has handed out, tensors and workspaces alike. The
// counting allocator is installed before the first tensor is made; again: nothing.
void count_allocations();
std::int64_t allocated_bytes();
std::int64_t peak_bytes();  // since the last reset
void reset_peak();

// Throws InputError when what a kernel made is not what the graph says.
void check_output(const Op& op, const Tensor& tensor, const Shape& expected,
                  const at::Tensor& value);

}  // namespace strato::torch_engine
