#include "core/graph/axes/position_letters.h"

#include <algorithm>

namespace strato {
namespace {

// A parameter, its gradient, or what is made of it alone.
bool is_weight(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.batch.kind != BatchKind::Whole) return tensor.batch.kind == BatchKind::Partial;
  if (!tensor.producer.valid()) return tensor.role == TensorRole::Parameter;
  const std::vector<TensorId>& inputs = graph.op(tensor.producer).inputs;
  return !inputs.empty() && std::ranges::all_of(inputs, [&](TensorId input) {
    return !input.valid() || is_weight(graph, input);
  });
}

}  // namespace

bool may_share_positions(const Graph& graph, OpId id, const LetterSplit& split) {
  const Op& op = graph.op(id);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].valid() && split.inputs[i] >= 0 && split.inputs[i] < kSumOver &&
        is_weight(graph, op.inputs[i]))
      return false;
  for (std::size_t o = 0; o < op.outputs.size(); ++o)
    if (split.outputs[o] >= 0 && is_weight(graph, op.outputs[o])) return false;
  return true;
}

}  // namespace strato
