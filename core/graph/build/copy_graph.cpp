#include "core/graph/build/copy_graph.h"

#include <algorithm>

#include "core/graph/build/graph_builder.h"
#include "core/graph/ops/catalogue.h"

namespace strato {

GraphBuilder builder_with_tensors(const Graph& graph) {
  GraphBuilder builder(graph.name(), graph.batch());
  for (const Tensor& tensor : graph.tensors()) {
    Tensor copy = tensor;
    copy.producer = OpId();
    builder.add_tensor(std::move(copy));
  }
  return builder;
}

namespace {

bool is_computed(const Tensor& tensor) {
  return tensor.role == TensorRole::Activation && tensor.producer.valid() &&
         is_floating(tensor.type);
}

bool is_result(const Graph& graph, TensorId id) {
  if (!is_computed(graph.tensor(id)) || !graph.consumers(id).empty()) return false;
  const Op& op = graph.op(graph.tensor(id).producer);
  if (op.outputs[0] == id) return true;
  // Some ops have several results (an LSTM's sequence and last state): those that nothing reads are
  // results of the graph only when nothing reads any of the others.
  const bool others_read = std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId other) {
    return !graph.consumers(other).empty();
  });
  return !rule_of(op.type).side_outputs && !others_read;
}

bool ends_in_integers(const Graph& graph, TensorId id) {
  const auto makes_integers = [&](OpId reader) {
    const Op& op = graph.op(reader);
    return std::none_of(op.outputs.begin(), op.outputs.end(),
                        [&](TensorId output) { return is_floating(graph.tensor(output).type); });
  };
  const std::span<const OpId> readers = graph.consumers(id);
  return is_computed(graph.tensor(id)) &&
         std::all_of(readers.begin(), readers.end(), makes_integers);
}

}  // namespace

std::vector<TensorId> results_of(const Graph& graph) {
  std::vector<TensorId> results;
  for (const auto test : {is_result, ends_in_integers}) {
    for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
      if (test(graph, TensorId(i))) results.push_back(TensorId(i));
    }
    if (!results.empty()) break;
  }
  return results;
}

}  // namespace strato
