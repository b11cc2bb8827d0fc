// Executions of a graph and of a rank share these: tensors from and to elements, defaults, the
// memory in use, and the library's refusals in our words. Include in .cpp files only.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/plugin/api/engine.h"
#include "plugins/engines/torch/values/aten.h"
#include "plugins/engines/torch/values/made_elements.h"

namespace strato::torch_engine {

at::ScalarType scalar_type(DataType type);

// Parameters, optimizer state, constants and inputs: not made by a step.
bool lives_on(TensorRole role);
// All samples, with what the options say; the learning rate has a default.
Shard whole_batch(const Graph& graph, const EngineOptions& options);

// The elements are little endian. Throws InputError naming the tensor when their number is wrong.
at::Tensor from_elements(const Tensor& tensor, const Shape& shape, const std::string& elements);
std::string elements_of(const at::Tensor& value);

// Throws InputError when this machine has no such device.
void check_device(const std::string& device);

// The first line of the library's message, without where in its sources it comes from.
std::string reason_of(const c10::Error& error);
[[noreturn]] void refuse(const Op& op, const std::string& reason);
[[noreturn]] void refuse_model(const c10::Error& error);
// Makes an execution of a model, which the library may refuse.
template <class Made, class... Arguments>
std::unique_ptr<Made> prepared(Arguments&&... arguments) {
  try {
    return std::make_unique<Made>(std::forward<Arguments>(arguments)...);
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
