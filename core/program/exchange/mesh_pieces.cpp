#include "core/program/exchange/mesh_pieces.h"

#include <algorithm>

namespace strato {

void MeshPieces::hide_gathering(Collected& what, OpId reader, TensorId tensor,
                                std::size_t shard) const {
  if (placement_.decision(reader).roles.pieces == 1) return;
  Products products;
  add_readers(reader, tensor, tensor, products);
  if (!products.empty()) hide_behind(what, products, owners(tensor).shards[shard].device);
}

void MeshPieces::hide_scattering(Collected& what, TensorId tensor, std::size_t shard) const {
  constexpr int kSteps = 4;  // sums, casts and views between a product and what is scattered
  if (placement_.decision(tables_.tensors[tensor].op).roles.pieces == 1) return;
  Products products;
  add_makers(tensor, kSteps, products);
  if (!products.empty()) hide_behind(what, products, owners(tensor).shards[shard].device);
}

// Those of the reader's phase, as it is or through views, which may not be made yet.
void MeshPieces::add_readers(OpId reader, TensorId gathered, TensorId view,
                             Products& products) const {
  const Graph& graph = *tables_.graph;
  for (const OpId id : graph.consumers(view)) {
    if (graph.op(id).phase != graph.op(reader).phase || !is_same_mesh(id, gathered)) continue;
    if (graph.op(id).family == OpFamily::MatMul) products.push_back(id);
    if (!tables_.ops[id].alias) continue;
    for (const TensorId made : graph.op(id).outputs) add_readers(reader, gathered, made, products);
  }
}

void MeshPieces::add_makers(TensorId tensor, int steps, Products& products) const {
  const OpId maker = tables_.tensors[tensor].op;
  if (!maker.valid() || tables_.tensors[tensor].source == Source::Parameter) return;
  if (!is_same_mesh(maker, tensor)) return;
  const Op& op = tables_.graph->op(maker);
  if (op.family == OpFamily::MatMul) return products.push_back(maker);
  if (steps == 0 || (!tables_.ops[maker].alias && op.family != OpFamily::Elementwise)) return;
  for (const TensorId input : tables_.inputs(maker))
    if (placement_.layout(maker).is_mesh && has(input)) add_makers(input, steps - 1, products);
}

// p pieces of an exchange of c, and of products of g: the first piece comes, then a piece of each
// goes beside the other, so that both take max(c / p + g, c + g / p). A ring goes in as many steps
// as it has members already: just more pieces than these add latency.
void MeshPieces::hide_behind(Collected& what, const Products& products, DeviceId device) const {
  const std::int64_t pieces = placement_.decision(products.front()).roles.pieces;
  Nanos product;
  for (const OpId op : products) {
    const Layout& layout = placement_.layout(op);
    const std::int32_t at = layout.position(device);
    if (at < 0) continue;  // of experts: it has no samples there
    const Shard& shard = layout.shards[static_cast<std::size_t>(at)];
    product += tasks_.share_of(placement_.layouts().time_of(op, shard), device, 1,
                               letters_.part_count(op));
  }
  Task& task = what.task;
  const auto members = static_cast<std::int64_t>(placement_.layout(products.front()).column_parts);
  const Nanos all = task.duration + task.latency * ((pieces - 1) / members);
  task.duration = std::max({all / pieces, all - product * (pieces - 1) / pieces, Nanos(1)});
  task.latency = std::min(task.latency, task.duration);
}

}  // namespace strato
