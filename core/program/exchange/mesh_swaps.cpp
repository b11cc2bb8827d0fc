#include "core/program/exchange/mesh_swaps.h"

#include <algorithm>

#include "core/base/at.h"
#include "core/program/value/program_task.h"

namespace strato {
namespace {

// What a part says of the samples.
Part without_cuts(Part part) {
  while (!part.cuts().empty()) part = part.without(part.cuts().front().axis);
  return part;
}

}  // namespace

// False: a piece is in no buffer, but resident.
bool MeshSwaps::exchange(TensorId tensor, Line at, const Part& all,
                         std::span<const Instance> pieces, std::span<const Part> targets) {
  if (!std::ranges::all_of(pieces, [](const Instance& piece) { return piece.buffer.valid(); }))
    return false;
  const PartId whole = emitter_.parts().find(all);
  const Collected what =
      collective(TaskKind::AllToAll, tensor, at, tasks_.bytes_of(tensor, whole), whole);
  const TaskId id = emitter_.next_task();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    emitter_.read(pieces[i]);
    const PartId part = emitter_.parts().find(targets[i]);
    const DeviceId device = pieces[i].device;
    copies_.add(tensor, {emitter_.write(tensor, device, tasks_.bytes_of(tensor, part), part), id,
                         device, part});
  }
  commit(what);
  return true;
}

// Those of the device's row, of what is of more samples.
Part MeshSwaps::row_samples(const Part& of_all, const Layout& rows, DeviceId device) const {
  return of_all.cut(placement_.layouts().range(rows, at(rows.position(device)), kBatchAxis));
}

bool MeshSwaps::to_experts(OpId reader, TensorId tensor, const Part& wanted, DeviceId device,
                           const Bring& bring) {
  const Layout &rows = owners(tensor), &experts = placement_.layout(reader);
  if (rows.experts != 1 || !rows.sharded || tables_.tensors[tensor].kind != BatchKind::Batched)
    return false;
  const std::size_t input = input_of(tables_, reader, tensor);
  const std::size_t shard = at(experts.position(device));
  const Part samples = without_cuts(wanted);
  if (letters_.of(reader).experts.input(input) < 0 ||
      letters_.part_read(samples, reader, input, shard) != wanted)
    return false;
  const Part all = letters_.part_read(samples, reader, input, shard, UpTo::Columns);
  const Line at = line_with(placement_.layout_id(reader), MeshLine::Experts, shard);
  std::vector<Instance> pieces;
  std::vector<Part> targets;
  for (const std::size_t member : line(at).shards) {
    const DeviceId there = experts.shards[member].device;
    pieces.push_back(bring(row_samples(all, rows, there), there));
    targets.push_back(letters_.part_read(samples, reader, input, member));
  }
  return exchange(tensor, at, all, pieces, targets);
}

std::optional<Instance> MeshSwaps::from_experts(OpId reader, TensorId tensor, std::size_t shard) {
  const Layout &experts = owners(tensor), &rows = placement_.layout(reader);
  if (rows.experts != 1 || !rows.sharded || tables_.tensors[tensor].kind != BatchKind::Batched)
    return std::nullopt;
  const OpId maker = tables_.tensors[tensor].op;
  const Part all = letters_.part_made(without_cuts(part_of(settled(tensor, shard, {}))), maker,
                                      output_of(tables_, maker, tensor), shard, UpTo::Columns);
  const DeviceId device = experts.shards[shard].device;
  const PartId target = emitter_.parts().find(row_samples(all, rows, device));
  if (const Instance* here = copies_.local(tensor, device, target)) return *here;
  const Line at = line_with(copies_.owners(tensor), MeshLine::Experts, shard);
  std::vector<Instance> pieces;
  std::vector<Part> targets;
  for (const std::size_t member : line(at).shards) {
    pieces.push_back(settled(tensor, member, {}));
    targets.push_back(row_samples(all, rows, experts.shards[member].device));
  }
  if (!exchange(tensor, at, all, pieces, targets)) return std::nullopt;
  return *copies_.local(tensor, device, target);
}

bool MeshSwaps::along_line(Line at, TensorId tensor, std::span<const Instance> slices,
                           const Part& wanted, std::size_t shard) {
  const std::vector<std::size_t>& members = line(at).shards;
  const auto own_place =
      static_cast<std::size_t>(std::ranges::find(members, shard) - members.begin());
  const Part own = part_of(slices[own_place]);
  const auto from = divided_axis(own, wanted), to = divided_axis(wanted, own);
  if (!from || !to) return false;
  const Part all = with_all_of(*from, own, wanted);
  if (part_in_line(at, tensor, all, shard, *to) != wanted ||
      !are_parts_in_line(at, tensor, slices, all, *from))
    return false;
  std::vector<Part> targets;
  for (const std::size_t member : members)
    targets.push_back(*part_in_line(at, tensor, all, member, *to));
  return exchange(tensor, at, all, slices, targets);
}

}  // namespace strato
