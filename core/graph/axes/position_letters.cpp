#include "core/graph/axes/position_letters.h"

#include <algorithm>

namespace strato {

WeightTensors weights_of(const Graph& graph) {
  WeightTensors weights(graph.tensor_count(), 0);
  const auto is_made_of_weights = [&](OpId producer) {  // ops ascend: its inputs are known
    const std::vector<TensorId>& inputs = graph.op(producer).inputs;
    return !inputs.empty() && std::ranges::all_of(inputs, [&](TensorId input) {
      return !input.valid() || weights[input] != 0;
    });
  };
  for (const TensorId id : graph.tensors().ids())
    if (!graph.tensor(id).producer.valid())
      weights[id] = graph.tensor(id).role == TensorRole::Parameter ? 1 : 0;
  for (const OpId op : graph.ops().ids())
    for (const TensorId output : graph.op(op).outputs) {
      const BatchKind kind = graph.tensor(output).batch.kind;
      const bool is_one =
          kind == BatchKind::Partial || (kind == BatchKind::Whole && is_made_of_weights(op));
      weights[output] = is_one ? 1 : 0;
    }
  return weights;
}

bool may_share_positions(const Op& op, const LetterSplit& split, const WeightTensors& weights) {
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i].valid() && split.inputs[i] >= 0 && split.inputs[i] < kSumOver &&
        weights[op.inputs[i]] != 0)
      return false;
  for (std::size_t o = 0; o < op.outputs.size(); ++o)
    if (split.outputs[o] >= 0 && weights[op.outputs[o]] != 0) return false;
  return true;
}

}  // namespace strato
