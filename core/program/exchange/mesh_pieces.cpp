#include "core/program/exchange/mesh_pieces.h"

#include <algorithm>
#include <utility>

#include "core/program/place/beside_products.h"

namespace strato {

void MeshPieces::hide_gathering(Collected& what, OpId reader, TensorId tensor,
                                std::size_t shard) const {
  if (placement_.decision(reader).roles.pieces == 1) return;
  std::vector<OpId> products = products_reading(*tables_.graph, tensor);
  std::erase_if(products, [&](OpId id) {
    return tables_.graph->op(id).phase != tables_.graph->op(reader).phase;
  });
  hide_behind(what, std::move(products), tensor, shard);
}

void MeshPieces::hide_scattering(Collected& what, TensorId tensor, std::size_t shard) const {
  if (placement_.decision(tables_.tensors[tensor].op).roles.pieces == 1) return;
  hide_behind(what, products_making(*tables_.graph, tensor), tensor, shard);
}

// p pieces of an exchange of c, and of products of g: the first piece comes, then a piece of each
// goes beside the other, so that both take max(c / p + g, c + g / p). A ring goes in as many steps
// as it has members already: just more pieces than these add latency.
void MeshPieces::hide_behind(Collected& what, std::vector<OpId> products, TensorId tensor,
                             std::size_t shard) const {
  std::erase_if(products, [&](OpId id) { return !is_same_mesh(id, tensor); });
  if (products.empty()) return;
  const DeviceId device = owners(tensor).shards[shard].device;
  const std::int64_t pieces = placement_.decision(products.front()).roles.pieces;
  Nanos product;
  for (const OpId op : products) {
    const Layout& layout = placement_.layout(op);
    const std::int32_t at = layout.position(device);
    if (at < 0) continue;  // of experts: it has no samples there
    const Shard& part = layout.shards[static_cast<std::size_t>(at)];
    product +=
        tasks_.share_of(placement_.layouts().time_of(op, part), device, 1, letters_.part_count(op));
  }
  Task& task = what.task;
  const auto members = static_cast<std::int64_t>(placement_.layout(products.front()).column_parts);
  const Nanos all = task.duration + task.latency * ((pieces - 1) / members);
  task.duration = std::max({all / pieces, all - product * (pieces - 1) / pieces, Nanos(1)});
  task.latency = std::min(task.latency, task.duration);
}

}  // namespace strato
