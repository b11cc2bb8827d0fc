#include "core/program/exchange/mesh_parts.h"

#include <fmt/format.h>

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
  const bool between_ops =
      at.kind == MeshLine::Row || at.kind == MeshLine::Context || at.kind == MeshLine::Experts;
  Collected what{tasks_.communication(kind, tensor), group, cost.links,
                 between_ops ? Stream::TensorCommunication : Stream::Communication};
  what.task.device = placement_.layout(group).shards.front().device;
  what.task.bytes = bytes;
  what.task.part = part;
  what.task.duration = cost.duration;
  what.task.latency = std::min(cost.latency, cost.duration);
  if (at.kind != MeshLine::Sharers) return what;
  const Nanos own = tasks_.latency_in_bucket(what.task.latency, bytes);
  what.task.duration = std::max(Nanos(1), what.task.duration - (what.task.latency - own));
  what.task.latency = own;
  return what;
}

void MeshParts::commit(const Collected& what) {
  emitter_.commit_collective(what.task, placement_.layout(what.group).shards, what.links,
                             what.stream);
}

MeshParts::Collected MeshParts::gathering(Line at, TensorId tensor, const Part& wanted,
                                          const Part& along) {
  return collective(TaskKind::AllGather, tensor, at,
                    tasks_.bytes_of(tensor, emitter_.parts().find(wanted)),
                    emitter_.parts().find(along));
}

void MeshParts::gather(const Collected& what, TensorId tensor, std::span<const Instance> slices,
                       const Part& wanted) {
  const PartId all = emitter_.parts().find(wanted);
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
  const Instance* found = summed_there(tensor, shard, due_for(wanted));
  CHECK(found, fmt::format("of {} {} is made, and no {} of it is on its mesh",
                           tables_.graph->tensor(tensor).name,
                           describe(part_of(owned(tensor, shard))), describe(wanted)));
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
  return read.columns == made.columns && read.context == made.context &&
         have_same_devices(read, made);
}

// Has the shard something of the wanted part, once the sums over a letter are there?
bool MeshParts::concerns(TensorId tensor, std::size_t shard, const Part& wanted) const {
  const Part made = part_of(owned(tensor, shard));
  return overlap(made.sums_letter() && !wanted.sums_letter() ? made.total() : made, wanted);
}

bool MeshParts::sums_over(UpTo dimension, TensorId tensor) const {
  const OpId maker = tables_.tensors[tensor].op;
  if (!maker.valid() || tables_.tensors[tensor].source == Source::Parameter) return false;
  const DividedOp& divided = letters_.of(maker);
  return (dimension == UpTo::Context ? divided.context : divided.columns)
             .output(output_of(tables_, maker, tensor)) == kSummed;
}

// Of a letter that both divide, a row's part of the positions.
Part MeshParts::with_columns_summed(const Part& made, TensorId tensor, std::size_t shard) const {
  if (!sums_over(UpTo::Columns, tensor)) return made;
  const Part total = made.total();
  if (!sums_over(UpTo::Context, tensor)) return total;
  const OpId maker = tables_.tensors[tensor].op;
  const DividedLetter& context = letters_.of(maker).context;
  return owners(tensor).context_part(total, shard, kSummedAxis + context.ordinal,
                                     context.split->extent);
}

const Instance* MeshParts::summed_there(TensorId tensor, std::size_t shard, DueSums due) const {
  const DeviceId device = owners(tensor).shards[shard].device;
  Part sum = with_columns_summed(part_of(owned(tensor, shard)), tensor, shard);
  if (due.positions && sum.sums_letter()) sum = sum.total();
  if (due.samples && sum.sums_samples())
    sum = sum.sums_letter() ? sum.without(kBatchAxis) : sum.total();
  return copies_.first_there(tensor, device, [&](const Instance& here) {
    const Part part = part_of(here);
    return part.sums_letter() == sum.sums_letter() && part.sums_samples() == sum.sums_samples() &&
           is_cut_from(part, sum);
  });
}

MeshLine MeshParts::summing_lines(TensorId tensor) const {
  const Layout& mesh = owners(tensor);
  if (mesh.context_parts > 1 && !sums_over(UpTo::Context, tensor)) return MeshLine::SamePlace;
  return mesh.experts > 1 ? MeshLine::Peers : MeshLine::Column;
}

std::optional<Part> MeshParts::part_in_line(const Line& of, TensorId tensor, const Part& all,
                                            std::size_t shard, int axis) const {
  const Layout& mesh = placement_.layout(of.mesh);
  const bool in_row = of.kind == MeshLine::Row;
  const AxisRange* own = all.along(axis);
  const std::int64_t extent = letters_.extent(tensor, axis), size = own ? own->size() : extent;
  const std::size_t parts = in_row ? mesh.column_parts : mesh.context_parts;
  if (size % static_cast<std::int64_t>(parts) != 0) return std::nullopt;
  return in_row ? mesh.column_part(all, shard, axis, extent)
                : mesh.context_part(all, shard, axis, extent);
}

bool MeshParts::are_parts_in_line(const Line& of, TensorId tensor, std::span<const Instance> parts,
                                  const Part& all, int axis) const {
  const std::vector<std::size_t>& members = line(of).shards;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (part_in_line(of, tensor, all, members[i], axis) != part_of(parts[i])) return false;
  return true;
}

std::optional<int> MeshParts::divided_axis(const Part& part, const Part& of) {
  std::optional<int> found;
  for (const AxisRange& range : part.cuts()) {
    const AxisRange* all = of.along(range.axis);
    if (all && *all == range) continue;
    if (found || (all && !all->contains(range))) return std::nullopt;
    found = range.axis;
  }
  return found;
}

// The part that names the axis, also where it has all of it.
Part MeshParts::with_axis(const Part& part, TensorId tensor, int axis) const {
  if (part.along(axis)) return part;
  const Shape& shape = tables_.graph->tensor(tensor).shape;
  return part.cut({static_cast<std::int8_t>(axis), 0,
                   static_cast<std::int32_t>(shape[static_cast<std::size_t>(axis)])});
}

}  // namespace strato
