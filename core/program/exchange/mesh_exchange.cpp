#include "core/program/exchange/mesh_exchange.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"

namespace strato {

Instance MeshExchange::cut(TensorId tensor, const Instance& from, const Part& wanted) {
  const PartId part = emitter_.parts().find(wanted);
  if (from.part == part) return from;
  if (const Instance* here = copies_.local(tensor, from.device, part)) return *here;
  return copies_.add(tensor, tasks_.split(tensor, from, part));
}

Instance MeshExchange::bring(OpId reader, TensorId tensor, Part wanted, DeviceId device) {
  const auto here = [&]() -> std::optional<Instance> {
    const bool at_home = tables_.tensors[tensor].source == Source::Parameter;
    const std::int32_t shard = at_home ? owners(tensor).position[device.index()] : -1;
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
  return fetch(tensor, wanted, device);
}

Instance MeshExchange::settled(TensorId tensor, std::size_t shard, const Part& wanted) const {
  if (tables_.tensors[tensor].source == Source::Parameter) return owned(tensor, shard);
  const Instance* found = settled_there(tensor, shard, wanted.sums_samples());
  CHECK(found, "a part of a tensor is not on its mesh");
  return *found;
}

// Do all columns of the device's row need all of an axis of which they have a slice each?
bool MeshExchange::gather_row(OpId reader, TensorId tensor, const Part& wanted, DeviceId device) {
  const Layout& made = owners(tensor);
  if (!is_same_mesh(reader, made) || wanted.is_partial_sum()) return false;
  const auto shard = static_cast<std::size_t>(made.position[device.index()]);
  if (!concerns(tensor, shard, wanted)) return false;
  const Part own = part_of(settled(tensor, shard, wanted));
  if (own.cuts().size() != 1 || own.without(own.cuts()[0].axis) != wanted) return false;
  const int axis = own.cuts()[0].axis;
  const std::size_t row = made.row(shard);
  const PartId all = emitter_.parts().find(wanted);
  const Collected what = collective(
      TaskKind::AllGather, tensor, placement_.layouts().row_group(copies_.owners(tensor), row),
      tasks_.bytes_of(tensor, all), emitter_.parts().find(with_axis(wanted, tensor, axis)),
      Stream::TensorCommunication);
  const TaskId id = emitter_.next_task();
  for (std::size_t i = row * made.columns; i < (row + 1) * made.columns; ++i) {
    const Instance piece = settled(tensor, i, wanted);
    emitter_.read(piece);
    copies_.add(tensor, {emitter_.write(tensor, piece.device, what.task.bytes, all), id,
                         piece.device, all});
  }
  commit(what);
  return true;
}

// Of a parameter that the rows share: the part of the device's column, for all rows.
bool MeshExchange::gather_column(OpId reader, TensorId parameter, const Part& wanted,
                                 DeviceId device) {
  const TensorFacts& facts = tables_.tensors[parameter];
  const Layout& homes = owners(parameter);
  if (facts.source != Source::Parameter || letters_.of(facts.op).shared_axis < 0 ||
      !is_same_mesh(reader, homes))
    return false;
  const int axis = letters_.of(facts.op).shared_axis;
  const auto shard = static_cast<std::size_t>(homes.position[device.index()]);
  if (part_of(owned(parameter, shard)).without(axis) != wanted) return false;
  const LayoutId mesh = copies_.owners(parameter);
  const std::size_t column = homes.column(shard);
  const LayoutId group = placement_.layouts().column_group(mesh, column);
  const PartId all = emitter_.parts().find(wanted);
  gathers_.limit_ahead(placement_.layout(group).shards);
  const Collected what =
      collective(TaskKind::AllGather, parameter, group, tasks_.bytes_of(parameter, all),
                 emitter_.parts().find(with_axis({}, parameter, axis)));
  const TaskId id = emitter_.next_task();
  for (std::size_t i = column; i < homes.shards.size(); i += homes.columns) {
    const Instance share = owned(parameter, i);
    emitter_.read(share);
    copies_.add(parameter, {emitter_.write(parameter, share.device, what.task.bytes, all), id,
                            share.device, all});
  }
  commit(what);
  return true;
}

int MeshExchange::distance(DeviceId from, DeviceId to) const {
  const Device &a = tables_.cluster->device(from), &b = tables_.cluster->device(to);
  return from == to ? 0 : a.group == b.group ? 1 : a.machine == b.machine ? 2 : 3;
}

// Who sends which pieces of the wanted part: of several that have the same one of the nearest,
// which take turns by device.
std::vector<MeshExchange::Holder> MeshExchange::holders(TensorId tensor, const Part& wanted,
                                                        DeviceId device) const {
  std::map<PartId, std::vector<Instance>> of_part;  // those that are equally near
  const std::size_t shards = owners(tensor).shards.size();
  for (std::size_t i = 0; i < shards; ++i) {
    if (!concerns(tensor, i, wanted)) continue;
    const Instance has = settled(tensor, i, wanted);
    if (!overlap(part_of(has), wanted)) continue;
    std::vector<Instance>& nearest = of_part[has.part];
    const int far = nearest.empty() ? 4 : distance(nearest.front().device, device);
    const int here = distance(has.device, device);
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

Instance MeshExchange::send(TensorId tensor, const Holder& holder, DeviceId device) {
  if (const Instance* here = copies_.holding(tensor, device, holder.part))
    return cut(tensor, *here, holder.part);
  const Instance* cut_before = copies_.holding(tensor, holder.from.device, holder.part);
  const Instance piece = cut(tensor, cut_before ? *cut_before : holder.from, holder.part);
  if (piece.device == device) return piece;
  return copies_.add(tensor, tasks_.send(tensor, piece, device));
}

Instance MeshExchange::fetch(TensorId tensor, const Part& wanted, DeviceId device) {
  std::vector<Instance> pieces;
  for (const Holder& holder : holders(tensor, wanted, device))
    pieces.push_back(send(tensor, holder, device));
  CHECK(!pieces.empty(), "a part of a tensor is on no device of its mesh");
  return join(tensor, std::move(pieces), wanted);
}

// The pieces, which differ along this axis, to the part that they are together.
Instance MeshExchange::concat(TensorId tensor, std::span<const Instance> pieces, const Part& made,
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
std::vector<Instance> MeshExchange::joined_along(int axis, TensorId tensor,
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
Instance MeshExchange::join(TensorId tensor, std::vector<Instance> pieces, const Part& made) {
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

}  // namespace strato
