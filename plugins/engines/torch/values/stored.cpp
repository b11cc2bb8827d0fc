#include "plugins/engines/torch/values/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"

namespace strato::torch_engine {

at::ScalarType scalar_type(DataType type) {
  switch (type) {
    case DataType::F64:
      return at::kDouble;
    case DataType::F32:
      return at::kFloat;
    case DataType::F16:
      return at::kHalf;
    case DataType::BF16:
      return at::kBFloat16;
    case DataType::I64:
      return at::kLong;
    case DataType::I32:
      return at::kInt;
    case DataType::I16:
      return at::kShort;
    case DataType::I8:
      return at::kChar;
    case DataType::U8:
      return at::kByte;
    case DataType::Bool:
      return at::kBool;
  }
  return at::kFloat;
}

bool lives_on(TensorRole role) {
  return role == TensorRole::Input || role == TensorRole::Parameter ||
         role == TensorRole::Constant || role == TensorRole::OptimizerState;
}

double default_learning_rate(const Graph& graph) {
  for (const Op& op : graph.ops()) {
    if (op.type == "ApplyAdam") return 0.001;
  }
  return 0.01;
}

at::Tensor from_elements(const Tensor& tensor, const Shape& shape, const std::string& elements) {
  at::Tensor value = at::empty(shape, scalar_type(tensor.type));
  if (value.nbytes() != elements.size()) {
    throw InputError("", fmt::format("tensor \"{}\"", tensor.name),
                     fmt::format("has {} bytes instead of {}", elements.size(), value.nbytes()),
                     "give all its elements");
  }
  if (!elements.empty()) std::memcpy(value.data_ptr(), elements.data(), elements.size());
  return value;
}

std::string elements_of(const at::Tensor& value) {
  const at::Tensor host = value.cpu().contiguous();
  return {static_cast<const char*>(host.data_ptr()), host.nbytes()};
}

void check_device(const std::string& device) {
  if (device == "cpu") return;
  throw InputError("", "--device", fmt::format("there is no device \"{}\"", device), "use cpu");
}

std::string reason_of(const c10::Error& error) {
  const std::string message = error.what_without_backtrace();
  return message.substr(0, std::min(message.find('\n'), std::size_t{200}));
}

void refuse(const Op& op, const std::string& reason) {
  const bool memory = reason.find("memory") != std::string::npos;
  throw InputError("", fmt::format("op \"{}\" ({})", op.name, op.type),
                   fmt::format("LibTorch refuses it: {}", reason),
                   memory ? "take a smaller batch" : "export the model without it");
}

void check_output(const Op& op, const Tensor& tensor, const Shape& expected,
                  const at::Tensor& value) {
  if (!value.defined()) refuse(op, fmt::format("it does not make \"{}\"", tensor.name));
  if (value.sizes() == at::IntArrayRef(expected) &&
      value.scalar_type() == scalar_type(tensor.type)) {
    return;
  }
  refuse(op, fmt::format("\"{}\" gets another shape or type than in the graph", tensor.name));
}

}  // namespace strato::torch_engine
