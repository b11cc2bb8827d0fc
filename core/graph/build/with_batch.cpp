#include "core/graph/build/with_batch.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/build/graph_builder.h"

namespace strato {
namespace {

Tensor scaled(const Tensor& tensor, std::int64_t from, std::int64_t to) {
  Tensor copy = tensor;
  copy.producer = OpId();
  if (tensor.batch.kind != BatchKind::Batched) return copy;
  std::int64_t& extent = copy.shape[static_cast<std::size_t>(tensor.batch.axis)];
  extent = extent / from * to;
  copy.data = nullptr;  // its elements were those of the other batch
  return copy;
}

void check_same_layouts(const Graph& before, const Graph& after) {
  for (std::size_t i = 0; i < before.tensor_count(); ++i) {
    const Tensor &old = before.tensor(TensorId(i)), &now = after.tensor(TensorId(i));
    if (old.batch == now.batch) continue;
    throw InputError(before.name(), now.name,
                     fmt::format("follows a batch of {} otherwise than one of {}", after.batch(),
                                 before.batch()),
                     "import the model with this batch");
  }
}

}  // namespace

Graph with_batch(const Graph& graph, std::int64_t batch) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (batch < 1 || batch > kMost)
    throw InputError(graph.name(), "", fmt::format("batch size {}", batch),
                     fmt::format("give a batch of 1 to {}", kMost));
  GraphBuilder builder(graph.name(), batch, graph.name());
  for (const Tensor& tensor : graph.tensors())
    builder.add_tensor(scaled(tensor, graph.batch(), batch));
  for (const Op& op : graph.ops()) builder.add_op(op);
  Graph result = std::move(builder).build();
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    CHECK(result.op(OpId(i)).name == graph.op(OpId(i)).name, "ops were in a topological order");
  check_same_layouts(graph, result);
  return result;
}

}  // namespace strato
