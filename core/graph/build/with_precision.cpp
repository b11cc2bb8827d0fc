#include "core/graph/build/with_precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"

namespace strato {
namespace {

bool is_changeable(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

Tensor converted(const Tensor& tensor, DataType type) {
  Tensor copy = tensor;
  copy.producer = OpId();
  if (!is_changeable(tensor.type) || tensor.type == type) return copy;
  copy.type = type;
  copy.data = nullptr;  // its elements were written otherwise
  return copy;
}

}  // namespace

Graph with_precision(const Graph& graph, DataType type) {
  if (!is_changeable(type))
    throw InputError(graph.name(), "precision", fmt::format("\"{}\"", name_of(type)),
                     "give float32, float16 or bfloat16");
  GraphBuilder builder(graph.name(), graph.batch(), graph.name());
  for (const Tensor& tensor : graph.tensors()) builder.add_tensor(converted(tensor, type));
  for (const Op& op : graph.ops()) builder.add_op(op);
  Graph result = std::move(builder).build();
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    CHECK(result.op(OpId(i)).name == graph.op(OpId(i)).name, "ops were in a topological order");
  return result;
}

DataType precision_of(const Graph& graph) {
  constexpr std::array types = {DataType::F32, DataType::F16, DataType::BF16, DataType::F64};
  std::array<std::int64_t, types.size()> parameters{}, others{};
  for (const Tensor& tensor : graph.tensors()) {
    const auto at = std::ranges::find(types, tensor.type);
    if (at == types.end()) continue;
    const auto number = static_cast<std::size_t>(at - types.begin());
    (tensor.role == TensorRole::Parameter ? parameters : others)[number] += tensor.elements();
  }
  const auto& counts =
      std::ranges::any_of(parameters, [](auto n) { return n > 0; }) ? parameters : others;
  return types[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
}

DataType precision_from(std::string_view name) {
  if (name == "float32" || name == "fp32") return DataType::F32;
  if (name == "float16" || name == "fp16" || name == "half") return DataType::F16;
  if (name == "bfloat16" || name == "bf16") return DataType::BF16;
  throw InputError("", "precision", fmt::format("\"{}\" is none that is known", name),
                   "give float32, float16 or bfloat16");
}

}  // namespace strato
