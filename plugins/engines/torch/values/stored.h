// Executions of a graph and of a rank share these: tensors from and to elements, defaults, and the
// library's refusals in our words. Include in .cpp files only.
#pragma once

#include <string>

#include "core/graph/value/graph.h"
#include "plugins/engines/torch/values/aten.h"

namespace strato::torch_engine {

at::ScalarType scalar_type(DataType type);

// Parameters, optimizer state, constants and inputs: not made by a step.
bool lives_on(TensorRole role);
double default_learning_rate(const Graph& graph);

// The elements are little endian. Throws InputError naming the tensor when their number is wrong.
at::Tensor from_elements(const Tensor& tensor, const Shape& shape, const std::string& elements);
std::string elements_of(const at::Tensor& value);

// Throws InputError when this machine has no such device.
void check_device(const std::string& device);

// The first line of the library's message, without where in its sources it comes from.
std::string reason_of(const c10::Error& error);
[[noreturn]] void refuse(const Op& op, const std::string& reason);

// Throws InputError when what a kernel made is not what the graph says.
void check_output(const Op& op, const Tensor& tensor, const Shape& expected,
                  const at::Tensor& value);

}  // namespace strato::torch_engine
