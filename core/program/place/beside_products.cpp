#include "core/program/place/beside_products.h"

namespace strato {
namespace {

void add_reading(const Graph& graph, TensorId tensor, std::vector<OpId>& products) {
  for (const OpId id : graph.consumers(tensor)) {
    const Op& op = graph.op(id);
    if (op.family == OpFamily::MatMul) products.push_back(id);
    if (!op.view) continue;
    for (const TensorId view : op.outputs) add_reading(graph, view, products);
  }
}

void add_making(const Graph& graph, TensorId tensor, std::vector<OpId>& products) {
  const OpId maker = graph.tensor(tensor).producer;
  if (!maker.valid()) return;
  const Op& op = graph.op(maker);
  if (op.family == OpFamily::MatMul) return products.push_back(maker);
  const bool passes_on = op.view || op.type == "AddN" || op.type == "Cast" || op.type == "CastGrad";
  if (!passes_on) return;
  for (const TensorId input : op.inputs)
    if (input.valid()) add_making(graph, input, products);
}

}  // namespace

std::vector<OpId> products_reading(const Graph& graph, TensorId tensor) {
  std::vector<OpId> products;
  add_reading(graph, tensor, products);
  return products;
}

std::vector<OpId> products_making(const Graph& graph, TensorId tensor) {
  std::vector<OpId> products;
  add_making(graph, tensor, products);
  return products;
}

}  // namespace strato
