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
  if (gather_column(reader, tensor, wanted, device) ||
      bring_to_experts(reader, tensor, wanted, device) ||
      bring_in_row(reader, tensor, wanted, device))
    return cut(tensor, *copies_.holding(tensor, device, wanted), wanted);
  return transfers_.bring(reader, tensor, wanted, device);
}

bool MeshExchange::bring_to_experts(OpId reader, TensorId tensor, const Part& wanted,
                                    DeviceId device) {
  return is_same_mesh(reader, tensor) && placement_.layout(reader).experts > 1 &&
         swaps_.concerns_experts(reader, tensor) &&
         swaps_.to_experts(reader, tensor, wanted, device, [&](const Part& part, DeviceId there) {
           return bring(reader, tensor, part, there);
         });
}

// From what the columns of the device's row have: do all of them need all of an axis of which they
// have a slice each, or slices along another one?
bool MeshExchange::bring_in_row(OpId reader, TensorId tensor, const Part& wanted, DeviceId device) {
  const Layout& made = owners(tensor);
  if (!is_same_mesh(reader, tensor) || wanted.is_partial_sum()) return false;
  const auto shard = static_cast<std::size_t>(made.position(device));
  if (!concerns(tensor, shard, wanted)) return false;
  const Line row = line_with(copies_.owners(tensor), MeshLine::Row, shard);
  const int shared_axis = letters_.of(tables_.tensors[tensor].op).shared_axis;
  const auto piece_of = [&](std::size_t i) -> std::optional<Instance> {
    if (swaps_.concerns_experts(reader, tensor)) return swaps_.from_experts(reader, tensor, i);
    if (shared_axis < 0) return settled(tensor, i, wanted);
    const Part of_column = part_of(owned(tensor, i)).without(shared_axis);
    return bring(reader, tensor, of_column, made.shards[i].device);
  };
  std::vector<Instance> pieces;
  for (const std::size_t i : line(row).shards) {
    const auto piece = piece_of(i);
    if (!piece) return false;
    pieces.push_back(*piece);
  }
  const Part own = part_of(pieces[made.column(shard)]);
  if (contains(own, wanted)) return true;
  if (swaps_.in_row(row, tensor, pieces, wanted, shard)) return true;
  if (own.cuts().size() != 1 || own.without(own.cuts()[0].axis) != wanted) return false;
  const int axis = own.cuts()[0].axis;
  if (made.sliced(wanted, shard, axis, tables_.graph->tensor(tensor)) != own) return false;
  gather_slices(row, tensor, pieces, wanted, with_axis(wanted, tensor, axis));
  return true;
}

// Of a parameter that rows share, or what was cast of it: the part of the device's column, for all
// of these.
bool MeshExchange::gather_column(OpId reader, TensorId parameter, const Part& wanted,
                                 DeviceId device) {
  const TensorFacts& facts = tables_.tensors[parameter];
  const Layout& homes = owners(parameter);
  if (letters_.of(facts.op).shared_axis < 0 || !is_same_mesh(reader, parameter)) return false;
  const int axis = letters_.of(facts.op).shared_axis;
  const auto shard = static_cast<std::size_t>(homes.position(device));
  if (part_of(owned(parameter, shard)).without(axis) != wanted) return false;
  const Line at = line_with(copies_.owners(parameter), MeshLine::Sharers, shard);
  std::vector<Instance> shares;
  for (const std::size_t i : line(at).shards) shares.push_back(owned(parameter, i));
  gathers_.limit_ahead(parameter, placement_.layout(line(at).group).shards);
  gather_slices(at, parameter, shares, wanted, with_axis({}, parameter, axis));
  return true;
}

}  // namespace strato
