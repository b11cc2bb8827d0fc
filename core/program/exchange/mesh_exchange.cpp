#include "core/program/exchange/mesh_exchange.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/program/exchange/mesh_twins.h"

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
  check_twins(reader, tensor);
  if (is_same_mesh(reader, tensor)) activations_.read(tensor);
  if (const auto known = here()) return cut(tensor, *known, wanted);
  sums_.settle(reader, tensor, wanted);
  if (const auto known = here()) return cut(tensor, *known, wanted);
  if (gather_column(reader, tensor, wanted, device) ||
      bring_to_experts(reader, tensor, wanted, device) ||
      bring_in_context(reader, tensor, wanted, device) ||
      bring_in_row(reader, tensor, wanted, device) ||
      gather_sent_positions(reader, tensor, wanted, device))
    return cut(tensor, *copies_.holding(tensor, device, wanted), wanted);
  return transfers_.bring(reader, tensor, wanted, device);
}

// Of slices that columns have, rows with other positions need other parts: one has its own at hand,
// and its twin has not.
void MeshExchange::check_twins(OpId reader, TensorId tensor) const {
  if (tables_.tensors[tensor].source == Source::Parameter || !is_same_mesh(reader, tensor) ||
      !twins_.are_left_out(copies_.owners(tensor), placement_.layout_id(reader)))
    return;
  const OpId maker = tables_.tensors[tensor].op;
  const DividedOp& made = letters_.of(maker);
  const std::size_t output = output_of(tables_, maker, tensor);
  const int axis = letters_.of(reader).context.input(input_of(tables_, reader, tensor));
  if (axis >= 0 && made.columns.output(output) == axis && made.context.output(output) != axis)
    throw TwinsDiffer();
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
  const int shared_axis = letters_.of(tables_.tensors[tensor].op).shared_axis;
  if (shared_axis < 0 && !concerns(tensor, shard, wanted)) return false;
  const Line row = line_with(copies_.owners(tensor), MeshLine::Row, shard);
  const auto piece_of = [&](std::size_t i) -> std::optional<Instance> {
    if (swaps_.concerns_experts(reader, tensor)) return swaps_.from_experts(reader, tensor, i);
    if (shared_axis < 0) return of_row(reader, tensor, settled(tensor, i, wanted), i);
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
  return contains(own, wanted) || put_together(row, tensor, pieces, wanted, shard, reader);
}

// Of what a shard has of all positions those that the reader's row needs, as all of the row do.
Instance MeshExchange::of_row(OpId reader, TensorId tensor, const Instance& piece,
                              std::size_t shard) {
  const int axis = letters_.of(reader).context.input(input_of(tables_, reader, tensor));
  const Part part = part_of(piece);
  if (axis < 0 || part.along(axis)) return piece;
  const Line at = line_with(copies_.owners(tensor), MeshLine::Context, shard);
  return cut(tensor, piece, part_in_line(at, tensor, part, shard, axis).value_or(part));
}

// The members of a row, or of rows that have positions together, have these slices, of which the
// shard needs more, as all do: all of them, or slices along another axis. False: it is not so.
bool MeshExchange::put_together(const Line& at, TensorId tensor, std::span<const Instance> slices,
                                const Part& wanted, std::size_t shard, OpId reader) {
  if (swaps_.along_line(at, tensor, slices, wanted, shard)) return true;
  const std::vector<std::size_t>& members = line(at).shards;
  const Part own = part_of(
      slices[static_cast<std::size_t>(std::ranges::find(members, shard) - members.begin())]);
  const std::optional<int> axis = divided_axis(own, wanted);
  if (!axis || !are_parts_in_line(at, tensor, slices, wanted, *axis)) return false;
  Collected what = gathering(at, tensor, wanted, with_axis(wanted, tensor, *axis));
  if (reader.valid()) pieces_.hide_gathering(what, reader, tensor, shard);
  activations_.limit_ahead(tensor, placement_.layout(line(at).group).shards);
  gather(what, tensor, slices, wanted);
  return true;
}

// From what rows have of the positions: does the reader need those of other rows, too? What columns
// have of them comes to the columns that need it first.
bool MeshExchange::bring_in_context(OpId reader, TensorId tensor, const Part& wanted,
                                    DeviceId device) {
  const Layout& made = owners(tensor);
  if (made.context_parts == 1 || !is_same_mesh(reader, tensor) || wanted.is_partial_sum() ||
      tables_.tensors[tensor].source == Source::Parameter)
    return false;
  const OpId maker = tables_.tensors[tensor].op;
  const int axis = letters_.of(maker).context.output(output_of(tables_, maker, tensor));
  if (axis < 0 || wanted.along(axis)) return false;
  const auto shard = static_cast<std::size_t>(made.position(device));
  const int to = letters_.of(reader).context.input(input_of(tables_, reader, tensor));
  const Part all = to >= 0 && to != axis ? with_all_positions(wanted, tensor, shard, to) : wanted;
  const Line at = line_with(copies_.owners(tensor), MeshLine::Context, shard);
  std::vector<Instance> slices;
  for (const std::size_t i : line(at).shards)
    slices.push_back(
        bring(reader, tensor, *part_in_line(at, tensor, all, i, axis), made.shards[i].device));
  return put_together(at, tensor, slices, wanted, shard);
}

// From another mesh with as many rows that have positions together: where one needs those of all,
// each is sent its own, and they gather them. Over the slower way between the meshes they go once.
bool MeshExchange::gather_sent_positions(OpId reader, TensorId tensor, const Part& wanted,
                                         DeviceId device) {
  const Layouts& layouts = placement_.layouts();
  const LayoutId read_id = placement_.layout_id(reader), made_id = copies_.owners(tensor);
  if (owners(tensor).context_parts == 1 || wanted.is_partial_sum() ||
      tables_.tensors[tensor].source == Source::Parameter || is_same_mesh(reader, tensor) ||
      !have_same_grid(layouts[layouts.unfolded(made_id)], layouts[layouts.unfolded(read_id)]))
    return false;
  const OpId maker = tables_.tensors[tensor].op;
  const int axis = letters_.of(maker).context.output(output_of(tables_, maker, tensor));
  const int to = letters_.of(reader).context.input(input_of(tables_, reader, tensor));
  if (axis < 0 || to != kAllOf || wanted.along(axis)) return false;
  const Layout& read = placement_.layout(read_id);
  const Line at =
      line_with(read_id, MeshLine::Context, static_cast<std::size_t>(read.position(device)));
  std::vector<Instance> slices;
  for (const std::size_t i : line(at).shards) {
    const auto part = part_in_line(at, tensor, wanted, i, axis);
    if (!part) return false;
    slices.push_back(bring(reader, tensor, *part, read.shards[i].device));
  }
  gather(gathering(at, tensor, wanted, with_axis(wanted, tensor, axis)), tensor, slices, wanted);
  return true;
}

// Of a part that is a row's share along this axis: that of all rows that have positions with it.
Part MeshExchange::with_all_positions(const Part& wanted, TensorId tensor, std::size_t shard,
                                      int axis) const {
  const Part all = wanted.without(axis);
  const Line at = line_with(copies_.owners(tensor), MeshLine::Context, shard);
  return part_in_line(at, tensor, all, shard, axis) == wanted ? all : wanted;
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
  gather(gathering(at, parameter, wanted, with_axis({}, parameter, axis)), parameter, shares,
         wanted);
  return true;
}

}  // namespace strato
