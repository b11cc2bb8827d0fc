#include "core/program/exchange/mesh_transfers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/program/exchange/mesh_twins.h"

namespace strato {

Instance MeshTransfers::bring(OpId reader, TensorId tensor, const Part& wanted, DeviceId device) {
  if (gather_sent(reader, tensor, wanted, device)) return *copies_.holding(tensor, device, wanted);
  return fetch(reader, tensor, wanted, device);
}

// Who sends which pieces of the wanted part: of several that have the same one of the nearest,
// which take turns by device.
std::vector<MeshTransfers::Holder> MeshTransfers::holders(TensorId tensor, const Part& wanted,
                                                          DeviceId device) const {
  std::map<PartId, std::vector<Instance>> of_part;  // those that are equally near
  const std::size_t shards = owners(tensor).shards.size();
  for (std::size_t i = 0; i < shards; ++i) {
    if (!concerns(tensor, i, wanted)) continue;
    const Instance has = settled(tensor, i, wanted);
    if (!overlap(part_of(has), wanted)) continue;
    std::vector<Instance>& nearest = of_part[has.part];
    const int far =
        nearest.empty() ? 4 : distance(*tables_.cluster, nearest.front().device, device);
    const int here = distance(*tables_.cluster, has.device, device);
    if (here < far) nearest.clear();
    if (here <= far) nearest.push_back(has);
  }
  std::vector<Holder> result;
  for (const auto& [part, from] : of_part)
    result.push_back(
        {*common_part(emitter_.program().parts[part], wanted), from[device.index() % from.size()]});
  const auto whole =
      std::ranges::find_if(result, [&](const Holder& holder) { return holder.part == wanted; });
  if (whole != result.end()) return {*whole};
  return result;
}

Instance MeshTransfers::send(TensorId tensor, const Holder& holder, DeviceId device) {
  if (const Instance* here = copies_.holding(tensor, device, holder.part))
    return cut(tensor, *here, holder.part);
  const Instance* cut_before = copies_.holding(tensor, holder.from.device, holder.part);
  const Instance piece = cut(tensor, cut_before ? *cut_before : holder.from, holder.part);
  if (piece.device == device) return piece;
  return copies_.add(tensor, tasks_.send(tensor, piece, device));
}

Instance MeshTransfers::fetch(OpId reader, TensorId tensor, const Part& wanted, DeviceId device) {
  const std::vector<Holder> found = holders(tensor, wanted, device);
  const LayoutId made = copies_.owners(tensor), read = placement_.layout_id(reader);
  if (twins_.are_left_out(made, read)) {
    if (found.size() != 1) throw TwinsDiffer();
    const Instance& from = found.front().from;
    const Part held = part_of(from);
    if (!is_cut_from(wanted, held)) throw TwinsDiffer();
    twins_.check_transfer(made, read, {held.along(kBatchAxis) != nullptr, !held.cuts().empty()},
                          {from.device, device});
  }
  std::vector<Instance> pieces;
  for (const Holder& holder : found) pieces.push_back(send(tensor, holder, device));
  CHECK(!pieces.empty(), "a part of a tensor is on no device of its mesh");
  return join(tensor, std::move(pieces), wanted);
}

// The pieces, which differ along this axis, to the part that they are together.
Instance MeshTransfers::concat(TensorId tensor, std::span<const Instance> pieces, const Part& made,
                               int axis) {
  const PartId part = emitter_.parts().find(made);
  const Bytes bytes = tasks_.bytes_of(tensor, part);
  Task task = tasks_.communication(TaskKind::Concat, tensor);
  task.part = axis == kBatchAxis ? part : emitter_.parts().find(with_axis(made, tensor, axis));
  task.bytes = bytes * 2;
  for (const Instance& piece : pieces) emitter_.read(piece);
  return copies_.add(tensor, tasks_.make(task, pieces.front().device, part, bytes));
}

// Pieces that differ along this axis alone, to all that is made of it. What has that stays.
std::vector<Instance> MeshTransfers::joined_along(int axis, TensorId tensor,
                                                  std::span<const Instance> pieces,
                                                  const Part& made) {
  std::vector<std::pair<Part, std::vector<Instance>>> groups;
  for (const Instance& piece : pieces) {
    const Part others = part_of(piece).without(axis);
    const auto known =
        std::ranges::find(groups, others, [](const auto& each) { return each.first; });
    if (known == groups.end())
      groups.push_back({others, {piece}});
    else
      known->second.push_back(piece);
  }
  const AxisRange* all = made.along(axis);
  std::vector<Instance> joined;
  for (auto& [others, group] : groups) {
    const Part whole = all ? others.cut(*all) : others;
    if (group.size() == 1 && part_of(group.front()) == whole) {
      joined.push_back(group.front());
      continue;
    }
    std::ranges::sort(group, {}, [&](const Instance& piece) {
      const Part part = part_of(piece);
      const AxisRange* range = part.along(axis);
      return range ? range->begin : 0;
    });
    joined.push_back(concat(tensor, group, whole, axis));
  }
  return joined;
}

// Slices of the same samples first, then samples.
Instance MeshTransfers::join(TensorId tensor, std::vector<Instance> pieces, const Part& made) {
  std::set<int, std::greater<>> axes;  // the batch comes last
  for (const Instance& piece : pieces) {
    const Part part = part_of(piece);
    for (const AxisRange& range : part.ranges()) {
      const AxisRange* of_whole = made.along(range.axis);
      if (!of_whole || *of_whole != range) axes.insert(range.axis);
    }
  }
  for (const int axis : axes) pieces = joined_along(axis, tensor, pieces, made);
  CHECK(pieces.size() == 1, "pieces that differ along no axis");
  return pieces.front();
}

// The axis along which a column of the mesh has its slice of the wanted part, or could have one
// where it has all of it; none: it is not so.
std::optional<int> MeshTransfers::slice_axis(TensorId tensor, std::size_t shard,
                                             const Part& wanted) const {
  if (!concerns(tensor, shard, wanted)) return std::nullopt;
  const Part own = part_of(settled(tensor, shard, wanted));
  if (const auto axis = divided_axis(own, wanted);
      axis &&
      part_in_line({copies_.owners(tensor), MeshLine::Row, 0}, tensor, wanted, shard, *axis) == own)
    return axis;
  if (own != wanted) return std::nullopt;
  const Tensor& whole = tables_.graph->tensor(tensor);
  const auto parts = static_cast<std::int64_t>(owners(tensor).column_parts);
  for (int axis = 0; axis < std::ssize(whole.shape); ++axis)
    if (axis != whole.batch.axis && !own.along(axis) && whole.shape[at(axis)] % parts == 0)
      return axis;
  return std::nullopt;
}

// Where each column has all of it, it may send all of it, or its slice, to be gathered there.
bool MeshTransfers::is_sent_in_slices(TensorId tensor, const Part& wanted, LayoutId row,
                                      const Path& path) {
  const Bytes all = tasks_.bytes_of(tensor, emitter_.parts().find(wanted));
  const Bytes slice = all / static_cast<std::int64_t>(owners(tensor).column_parts);
  return tables_.cost->transfer(path, slice) +
             tasks_.collective_cost(TaskKind::AllGather, row, all).duration <
         tables_.cost->transfer(path, all);
}

// From another mesh with as many rows of the same samples and as many columns.
bool MeshTransfers::gather_sent(OpId reader, TensorId tensor, const Part& wanted, DeviceId device) {
  const Layouts& layouts = placement_.layouts();
  const LayoutId read_id = placement_.layout_id(reader), made_id = copies_.owners(tensor);
  const Layout &made = owners(tensor), &read = layouts[read_id],
               &all_made = layouts[layouts.unfolded(made_id)],
               &all_read = layouts[layouts.unfolded(read_id)];
  if (tables_.tensors[tensor].source == Source::Parameter || wanted.is_partial_sum() ||
      all_made.columns == 1 || !have_same_grid(all_made, all_read))
    return false;
  const int own_slice = letters_.of(reader).columns.input(input_of(tables_, reader, tensor));
  if (own_slice != kAllOf) return false;  // each column needs another part
  // A device of the row and its peer, by their shards.
  const auto peer = [&](const Shard& shard) {
    const std::size_t place = at(all_read.position(shard.device));
    return made.position(all_made.shards[place].device);
  };
  const std::size_t row = read.row(at(read.position(device)));
  const std::span<const Shard> members = read.members_of_row(row);
  if (std::ranges::any_of(members, [&](const Shard& shard) { return peer(shard) < 0; }))
    throw TwinsDiffer();
  const std::size_t first = at(peer(members.front()));
  const std::optional<int> axis = slice_axis(tensor, first, wanted);
  const auto slice_of = [&](std::size_t from) {
    return made.column_part(wanted, from, *axis, letters_.extent(tensor, *axis));
  };
  const Path& path = tables_.cluster->path(made.shards[first].device, members.front().device);
  if (!axis ||
      !std::ranges::all_of(members,
                           [&](const Shard& shard) {
                             const std::size_t from = at(peer(shard));
                             return contains(part_of(settled(tensor, from, wanted)),
                                             slice_of(from));
                           }) ||
      (part_of(settled(tensor, first, wanted)) == wanted &&
       !is_sent_in_slices(tensor, wanted, layouts.lines(read_id, MeshLine::Row)[row].group, path)))
    return false;
  std::vector<Instance> slices;
  for (const Shard& shard : members) {
    const std::size_t from = at(peer(shard));
    if (twins_.are_left_out(made_id, read_id))
      twins_.check_transfer(made_id, read_id, {true, true},
                            {made.shards[from].device, shard.device});
    slices.push_back(send(tensor, {slice_of(from), settled(tensor, from, wanted)}, shard.device));
  }
  const Part along = with_axis(wanted, tensor, *axis);
  gather(gathering({read_id, MeshLine::Row, row}, tensor, wanted, along), tensor, slices, wanted);
  return true;
}

}  // namespace strato
