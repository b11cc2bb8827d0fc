#include "core/program/exchange/mesh_exchange.h"

#include <optional>
#include <vector>

namespace strato {

Instance MeshExchange::bring(OpId reader, TensorId tensor, Part wanted, DeviceId device) {
  const auto here = [&]() -> std::optional<Instance> {
    const bool at_home = tables_.tensors[tensor].source == Source::Parameter;
    const std::int32_t shard = at_home ? owners(tensor).position(device) : -1;
    if (shard >= 0) {  // where it is updated, and not a copy of it
      const Instance kept = owned(tensor, static_cast<std::size_t>(shard));
      if (contains(part_of(kept), wanted)) return kept;
    }
    const Instance* known = copies_.holding(tensor, device, wanted);
    return known ? std::optional(*known) : std::nullopt;
  };
  if (const auto known = here()) return cut(tensor, *known, wanted);
  sums_.settle(reader, tensor, wanted);
  if (const auto known = here()) return cut(tensor, *known, wanted);
  if (gather_column(reader, tensor, wanted, device) || gather_row(reader, tensor, wanted, device))
    return *copies_.holding(tensor, device, wanted);
  return transfers_.bring(reader, tensor, wanted, device);
}

// Do all columns of the device's row need all of an axis of which they have a slice each?
bool MeshExchange::gather_row(OpId reader, TensorId tensor, const Part& wanted, DeviceId device) {
  const Layout& made = owners(tensor);
  if (!is_same_mesh(reader, tensor) || wanted.is_partial_sum()) return false;
  const auto shard = static_cast<std::size_t>(made.position(device));
  if (!concerns(tensor, shard, wanted)) return false;
  const Part own = part_of(settled(tensor, shard, wanted));
  if (own.cuts().size() != 1 || own.without(own.cuts()[0].axis) != wanted) return false;
  const std::size_t row = made.row(shard);
  std::vector<Instance> slices;
  for (std::size_t i = row * made.columns; i < (row + 1) * made.columns; ++i)
    slices.push_back(settled(tensor, i, wanted));
  gather_slices({copies_.owners(tensor), true, row}, tensor, slices, wanted,
                with_axis(wanted, tensor, own.cuts()[0].axis));
  return true;
}

// Of a parameter that the rows share: the part of the device's column, for all rows.
bool MeshExchange::gather_column(OpId reader, TensorId parameter, const Part& wanted,
                                 DeviceId device) {
  const TensorFacts& facts = tables_.tensors[parameter];
  const Layout& homes = owners(parameter);
  if (facts.source != Source::Parameter || letters_.of(facts.op).shared_axis < 0 ||
      !is_same_mesh(reader, parameter))
    return false;
  const int axis = letters_.of(facts.op).shared_axis;
  const auto shard = static_cast<std::size_t>(homes.position(device));
  if (part_of(owned(parameter, shard)).without(axis) != wanted) return false;
  const std::size_t column = homes.column(shard);
  std::vector<Instance> shares;
  for (std::size_t i = column; i < homes.shards.size(); i += homes.columns)
    shares.push_back(owned(parameter, i));
  const LayoutId mesh = copies_.owners(parameter);
  gathers_.limit_ahead(placement_.layout(placement_.layouts().column_group(mesh, column)).shards);
  gather_slices({mesh, false, column}, parameter, shares, wanted, with_axis({}, parameter, axis));
  return true;
}

}  // namespace strato
