#include "core/program/exchange/mesh_parts.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/program/exchange/mesh_twins.h"

namespace strato {

MeshParts::Line MeshParts::line_with(LayoutId mesh, MeshLine kind, std::size_t shard) const {
  const std::vector<LineOfMesh>& lines = placement_.layouts().lines(mesh, kind);
  const auto of_shard = std::ranges::find_if(lines, [&](const LineOfMesh& each) {
    return std::ranges::binary_search(each.shards, shard);
  });
  CHECK(of_shard != lines.end(), "a shard of a mesh is on none of its lines");
  return {mesh, kind, static_cast<std::size_t>(of_shard - lines.begin())};
}

MeshParts::Collected MeshParts::collective(TaskKind kind, TensorId tensor, Line at, Bytes bytes,
                                           PartId part) {
  const LayoutId group = line(at).group;
  twins_.check_collective(kind, at.mesh, at.kind, group, bytes);
  const CollectiveCost& cost = tasks_.collective_cost(kind, group, bytes);
  const bool between_ops = at.kind == MeshLine::Row || at.kind == MeshLine::Experts;
  Collected what{tasks_.communication(kind, tensor), group, cost.links,
                 between_ops ? Stream::TensorCommunication : Stream::Communication};
  what.task.device = placement_.layout(group).shards.front().device;
  what.task.bytes = bytes;
  what.task.part = part;
  what.task.duration = cost.duration;
  what.task.latency = std::min(cost.latency, cost.duration);
  return what;
}

void MeshParts::commit(const Collected& what) {
  emitter_.commit_collective(what.task, placement_.layout(what.group).shards, what.links,
                             what.stream);
}

void MeshParts::gather_slices(Line at, TensorId tensor, std::span<const Instance> slices,
                              const Part& wanted, const Part& along) {
  const PartId all = emitter_.parts().find(wanted);
  const Collected what = collective(TaskKind::AllGather, tensor, at, tasks_.bytes_of(tensor, all),
                                    emitter_.parts().find(along));
  const TaskId id = emitter_.next_task();
  for (const Instance& slice : slices) {
    emitter_.read(slice);
    copies_.add(tensor, {emitter_.write(tensor, slice.device, what.task.bytes, all), id,
                         slice.device, all});
  }
  commit(what);
}

Instance MeshParts::cut(TensorId tensor, const Instance& from, const Part& wanted) {
  const PartId part = emitter_.parts().find(wanted);
  if (from.part == part) return from;
  if (const Instance* here = copies_.local(tensor, from.device, part)) return *here;
  return copies_.add(tensor, tasks_.split(tensor, from, part));
}

Instance MeshParts::settled(TensorId tensor, std::size_t shard, const Part& wanted) const {
  if (tables_.tensors[tensor].source == Source::Parameter) return owned(tensor, shard);
  const Instance* found = settled_there(tensor, shard, wanted.sums_samples());
  CHECK(found, "a part of a tensor is not on its mesh");
  return *found;
}

Instance MeshParts::owned(TensorId tensor, std::size_t shard) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  if (facts.source != Source::Parameter) return copies_.of_shard(tensor, shard);
  Instance instance;
  instance.device = owners(tensor).shards[shard].device;
  instance.part = emitter_.parts().find(letters_.kept(facts.op, tensor, shard));
  instance.slot = facts.slot;
  return instance;
}

bool MeshParts::is_same_mesh(OpId reader, TensorId tensor) const {
  const Layouts& layouts = placement_.layouts();
  const Layout& read = layouts[layouts.unfolded(placement_.layout_id(reader))];
  const Layout& made = layouts[layouts.unfolded(copies_.owners(tensor))];
  return read.columns == made.columns && have_same_devices(read, made);
}

// Has the shard something of the wanted part, once the sums over a letter are there?
bool MeshParts::concerns(TensorId tensor, std::size_t shard, const Part& wanted) const {
  const Part made = part_of(owned(tensor, shard));
  return overlap(made.sums_letter() ? made.total() : made, wanted);
}

// What a device of the mesh has of what it made once the sums over a letter are there, or those
// over samples, too; null: they are not. Others may have sent it other parts.
const Instance* MeshParts::settled_there(TensorId tensor, std::size_t shard,
                                         bool sums_samples) const {
  const DeviceId device = owners(tensor).shards[shard].device;
  Part total = part_of(owned(tensor, shard));
  if (total.sums_letter()) total = total.total();
  if (!sums_samples) total = total.summed_up();
  return copies_.first_there(tensor, device, [&](const Instance& here) {
    const Part part = part_of(here);
    return part.is_partial_sum() == total.is_partial_sum() && is_cut_from(part, total);
  });
}

// The part that names the axis, also where it has all of it.
Part MeshParts::with_axis(const Part& part, TensorId tensor, int axis) const {
  if (part.along(axis)) return part;
  const Shape& shape = tables_.graph->tensor(tensor).shape;
  return part.cut({static_cast<std::int8_t>(axis), 0,
                   static_cast<std::int32_t>(shape[static_cast<std::size_t>(axis)])});
}

}  // namespace strato
