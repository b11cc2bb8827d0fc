#include "core/program/exchange/mesh_exchange.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"

namespace strato {

struct MeshExchange::Collected {  // a collective that is about to be added
  Task task;
  LayoutId group;
  std::vector<LinkId> links;
};

MeshExchange::Collected MeshExchange::collective(TaskKind kind, TensorId tensor, LayoutId group,
                                                 Bytes bytes, PartId part) {
  const CollectiveCost& cost = tasks_.collective_cost(kind, group, bytes);
  Collected what{tasks_.communication(kind, tensor), group, cost.links};
  what.task.device = placement_.layout(group).shards.front().device;
  what.task.bytes = bytes;
  what.task.part = part;
  what.task.duration = cost.duration;
  what.task.latency = std::min(cost.latency, cost.duration);
  return what;
}

void MeshExchange::commit(const Collected& what) {
  emitter_.commit_collective(what.task, placement_.layout(what.group).shards, what.links);
}

Instance MeshExchange::owned(TensorId tensor, std::size_t shard) const {
  const TensorFacts& facts = tables_.tensors[tensor];
  if (facts.source != Source::Parameter) return copies_.of_shard(tensor, shard);
  const Layout& homes = owners(tensor);
  const int axis = placement_.columns(facts.op).input(tables_, facts.op, tensor);
  Part part;
  if (axis >= 0)
    part = part.cut(homes.slice(
        shard, axis, tables_.graph->tensor(tensor).shape[static_cast<std::size_t>(axis)]));
  Instance instance;
  instance.device = homes.shards[shard].device;
  instance.part = tasks_.find(part);
  instance.slot = facts.slot;
  return instance;
}

const Instance* MeshExchange::find(TensorId tensor, DeviceId device, const Part& wanted) const {
  return copies_.holding(tensor, device, wanted);
}

bool MeshExchange::is_same_mesh(OpId reader, const Layout& layout) const {
  const Layout& read = placement_.layout(reader);
  return read.columns == layout.columns && have_same_devices(read, layout);
}

Instance MeshExchange::cut(TensorId tensor, const Instance& from, const Part& wanted) {
  const PartId part = tasks_.find(wanted);
  if (from.part == part) return from;
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
    const Instance* known = find(tensor, device, wanted);
    return known ? std::optional(*known) : std::nullopt;
  };
  if (const auto known = here()) return cut(tensor, *known, wanted);
  settle_sums(reader, tensor, wanted);
  if (const auto known = here()) return cut(tensor, *known, wanted);
  if (gather_row(reader, tensor, wanted, device)) return *find(tensor, device, wanted);
  return fetch(tensor, wanted, device);
}

// ---- sums

void MeshExchange::settle_sums(OpId reader, TensorId tensor, const Part& wanted) {
  if (tables_.tensors[tensor].source == Source::Parameter) return;
  const Layout& made = owners(tensor);
  Part first = part_of(owned(tensor, 0));
  if (first.sums_letter()) {
    for (std::size_t row = 0; row < made.row_count(); ++row) {
      const std::size_t shard = row * made.columns;
      if (concerns(tensor, shard, wanted) && !settled_there(tensor, shard, first.sums_samples()))
        reduce_row(reader, tensor, row);
    }
    first = first.total();
  }
  if (first.sums_samples() && !wanted.sums_samples() && !settled_there(tensor, 0, false))
    reduce_columns({&tensor, 1});
}

// Does nobody read the partial sums themselves?
bool MeshExchange::allow_sum_in_place(TensorId tensor, const Part& term) const {
  const Layout& made = owners(tensor);
  if (!term.sums_letter())
    for (const OpId consumer : tables_.graph->consumers(tensor))
      if (placement_.layout(consumer).sharded) return false;
  for (std::size_t i = 0; i < made.shards.size(); ++i)
    if (!owned(tensor, i).exclusive) return false;
  return true;
}

void MeshExchange::reduce_row(OpId reader, TensorId tensor, std::size_t row) {
  const Layout& made = owners(tensor);
  const Part total = part_of(owned(tensor, row * made.columns)).total();
  const PartId all = tasks_.find(total);
  const Bytes bytes = tasks_.bytes_of(tensor, all);
  const LayoutId group = placement_.layouts().row_group(copies_.owners(tensor), row);
  const int axis = is_same_mesh(reader, made)
                       ? placement_.columns(reader).input(tables_, reader, tensor)
                       : kAllOf;
  const bool scatter = axis >= 0;
  const bool in_place = !scatter && allow_sum_in_place(tensor, part_of(owned(tensor, 0)));
  const Collected what =
      collective(scatter ? TaskKind::ReduceScatter : TaskKind::AllReduce, tensor, group, bytes,
                 scatter ? tasks_.find(tasks_.with_axis(total, tensor, axis)) : all);
  const TaskId id = emitter_.next_task();
  for (std::size_t i = row * made.columns; i < (row + 1) * made.columns; ++i) {
    const Instance term = owned(tensor, i);
    emitter_.read(term);
    const std::int64_t extent =
        scatter ? tables_.graph->tensor(tensor).shape[static_cast<std::size_t>(axis)] : 0;
    const PartId part = scatter ? tasks_.find(total.cut(made.slice(i, axis, extent))) : all;
    const BufferId buffer =
        in_place ? term.buffer
                 : emitter_.write(tensor, term.device, tasks_.bytes_of(tensor, part), part);
    Instance sum{buffer, id, term.device, part};
    sum.exclusive = !in_place || term.exclusive;
    copies_.add(tensor, sum);
  }
  commit(what);
}

// Each column for itself. Tensors are of one layout; a bucket's are summed up in place.
void MeshExchange::reduce_columns(std::span<const TensorId> tensors) {
  const LayoutId mesh = copies_.owners(tensors.front());
  const Layout& made = placement_.layout(mesh);
  for (std::size_t column = 0; column < made.columns; ++column) {
    const auto term_at = [&](TensorId tensor, std::size_t row) {
      return *settled_there(tensor, row * made.columns + column, true);
    };
    Bytes bytes;
    for (const TensorId tensor : tensors)
      bytes += tasks_.bytes_of(tensor, tasks_.find(part_of(term_at(tensor, 0)).total()));
    Collected what = collective(
        TaskKind::AllReduce, tensors.front(), placement_.layouts().column_group(mesh, column),
        bytes,
        tensors.size() == 1 ? tasks_.find(part_of(term_at(tensors.front(), 0)).total()) : kWhole);
    const TaskId id = emitter_.next_task();
    for (const TensorId tensor : tensors) {
      what.task.priority = std::min(what.task.priority, tasks_.priority(tensor));
      for (std::size_t row = 0; row < made.row_count(); ++row) {
        const Instance term = term_at(tensor, row);
        const PartId total = tasks_.find(part_of(term).total());
        const bool in_place = term.exclusive && allow_sum_in_place(tensor, part_of(term));
        emitter_.read(term);
        const BufferId buffer =
            in_place ? term.buffer
                     : emitter_.write(tensor, term.device, tasks_.bytes_of(tensor, total), total);
        copies_.add(tensor, {buffer, id, term.device, total});
      }
    }
    commit(what);
  }
}

bool MeshExchange::is_fusible(TensorId tensor) const {
  const Copies::Made& made = copies_.made(tensor);
  if (made.form != Copies::Form::OnMesh || made.copies >= 0) return false;
  const Part part = part_of(owned(tensor, 0));
  const auto consumers = tables_.graph->consumers(tensor);
  return part.sums_samples() && !part.sums_letter() && !consumers.empty() &&
         tables_.is_late(consumers.front()) &&
         is_same_mesh(consumers.front(), placement_.layout(made.layout)) &&
         allow_sum_in_place(tensor, part);
}

void MeshExchange::fuse(Bytes limit) {
  CHECK(limit > Bytes(0), "a bucket without room");
  std::vector<std::pair<TaskId, TensorId>> gradients;  // by the last task that makes it
  for (const OpId op : tables_.early)
    for (const TensorId output : tables_.outputs(op))
      if (is_fusible(output))
        gradients.emplace_back(owned(output, owners(output).shards.size() - 1).task, output);
  std::ranges::stable_sort(gradients, {}, &std::pair<TaskId, TensorId>::first);
  struct Bucket {
    std::vector<TensorId> tensors;
    Bytes bytes;
  };
  std::map<LayoutId, Bucket> open;
  for (const auto& gradient : gradients) {
    const TensorId tensor = gradient.second;
    const Bytes bytes = tasks_.bytes_of(tensor, tasks_.find(part_of(owned(tensor, 0)).total()));
    Bucket& bucket = open[copies_.owners(tensor)];
    if (!bucket.tensors.empty() && bucket.bytes + bytes > limit)
      reduce_columns(std::exchange(bucket, {}).tensors);
    bucket.tensors.push_back(tensor);
    bucket.bytes += bytes;
  }
  for (const auto& bucket : open) reduce_columns(bucket.second.tensors);
}

// ---- what stands settled

// Has the shard something of the wanted part, once the sums over a letter are there?
bool MeshExchange::concerns(TensorId tensor, std::size_t shard, const Part& wanted) const {
  const Part made = part_of(owned(tensor, shard));
  return overlap(made.sums_letter() ? made.total() : made, wanted);
}

// What a device of the mesh has of what it made once the sums over a letter are there, or those
// over samples, too; null: they are not. Others may have sent it other parts.
const Instance* MeshExchange::settled_there(TensorId tensor, std::size_t shard,
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
  const PartId all = tasks_.find(wanted);
  const Collected what = collective(
      TaskKind::AllGather, tensor, placement_.layouts().row_group(copies_.owners(tensor), row),
      tasks_.bytes_of(tensor, all), tasks_.find(tasks_.with_axis(wanted, tensor, axis)));
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
  if (const Instance* here = find(tensor, device, holder.part))
    return cut(tensor, *here, holder.part);
  const Instance* cut_before = find(tensor, holder.from.device, holder.part);
  const Instance piece = cut(tensor, cut_before ? *cut_before : holder.from, holder.part);
  if (piece.device == device) return piece;
  return copies_.add(tensor, tasks_.send(tensor, piece, device));
}

Instance MeshExchange::fetch(TensorId tensor, const Part& wanted, DeviceId device) {
  std::vector<Instance> pieces;
  for (const Holder& holder : holders(tensor, wanted, device))
    pieces.push_back(send(tensor, holder, device));
  CHECK(!pieces.empty(), "a part of a tensor is on no device of its mesh");
  return join(tensor, device, pieces, wanted);
}

// Slices of the same samples first, then samples.
Instance MeshExchange::join(TensorId tensor, DeviceId device, std::span<const Instance> pieces,
                            const Part& made) {
  std::map<AxisRange, std::vector<Instance>> rows;  // by samples
  for (const Instance& piece : pieces) {
    const Part part = part_of(piece);
    const AxisRange* samples = part.along(kBatchAxis);
    rows[samples ? *samples : AxisRange()].push_back(piece);
  }
  std::vector<Instance> joined;
  for (const auto& [samples, row] : rows) {
    const Part first = part_of(row.front());
    Part whole = made;
    if (samples != AxisRange()) whole = whole.cut(samples);
    if (first == whole) {
      joined.push_back(row.front());
      continue;
    }
    const auto differs = [&](const AxisRange& range) {
      const AxisRange* of_whole = whole.along(range.axis);
      return !of_whole || *of_whole != range;
    };
    const auto axis = std::ranges::find_if(first.cuts(), differs);
    CHECK(axis != first.cuts().end(), "pieces that differ along no axis");
    joined.push_back(copies_.add(tensor, tasks_.join(tensor, device, row, whole, axis->axis)));
  }
  if (joined.size() == 1) return joined.front();
  return copies_.add(tensor, tasks_.join(tensor, device, joined, made, kBatchAxis));
}

}  // namespace strato
