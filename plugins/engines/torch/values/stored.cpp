#include "plugins/engines/torch/values/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"

namespace strato::torch_engine {

at::ScalarType scalar_type(DataType type) {
  static constexpr at::ScalarType kTypes[] = {at::kDouble, at::kFloat, at::kHalf,  at::kBFloat16,
                                              at::kLong,   at::kInt,   at::kShort, at::kChar,
                                              at::kByte,   at::kBool};  // in DataType's order
  return kTypes[static_cast<std::size_t>(type)];
}

bool lives_on(TensorRole role) {
  return role == TensorRole::Input || role == TensorRole::Parameter ||
         role == TensorRole::Constant || role == TensorRole::OptimizerState;
}

Shard whole_batch(const Graph& graph, const EngineOptions& options) {
  const auto ops = graph.ops();
  const bool adam =
      std::any_of(ops.begin(), ops.end(), [](const Op& op) { return op.type == "ApplyAdam"; });
  Shard shard;
  shard.samples = graph.batch();
  shard.seed = options.seed;
  shard.learning_rate = options.learning_rate.value_or(adam ? 0.001 : 0.01);
  return shard;
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

void refuse_model(const c10::Error& error) {
  throw InputError("", "", fmt::format("LibTorch refuses the model: {}", reason_of(error)),
                   "take a smaller batch");
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
  if (value.sizes() != at::IntArrayRef(expected) || value.scalar_type() != scalar_type(tensor.type))
    refuse(op, fmt::format("\"{}\" gets another shape or type than in the graph", tensor.name));
}

}  // namespace strato::torch_engine
