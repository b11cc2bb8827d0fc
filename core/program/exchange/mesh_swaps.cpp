#include "core/program/exchange/mesh_swaps.h"

#include <algorithm>

#include "core/base/at.h"

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
  if (letters_.of(reader).expert_inputs[input] < 0 ||
      letters_.part_read(samples, reader, input, shard) != wanted)
    return false;
  const Part all = letters_.read_by_column(samples, reader, input, shard);
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
  const std::span<const TensorId> outputs = tables_.outputs(maker);
  const Part all = letters_.made_by_column(
      without_cuts(part_of(settled(tensor, shard, {}))), maker,
      static_cast<std::size_t>(std::ranges::find(outputs, tensor) - outputs.begin()), shard);
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

bool MeshSwaps::in_row(Line row, TensorId tensor, std::span<const Instance> slices,
                       const Part& wanted, std::size_t shard) {
  const Layout& mesh = placement_.layout(row.mesh);
  const Part own = part_of(slices[mesh.column(shard)]);
  if (own.cuts().size() != 1 || wanted.cuts().size() != 1) return false;
  const int from = own.cuts()[0].axis, to = wanted.cuts()[0].axis;
  const Part all = own.without(from);
  const Tensor& whole = tables_.graph->tensor(tensor);
  if (from == to || all != wanted.without(to) || mesh.sliced(all, shard, to, whole) != wanted)
    return false;
  std::vector<Part> targets;
  for (const std::size_t member : line(row).shards)
    targets.push_back(mesh.sliced(all, member, to, whole));
  return exchange(tensor, row, all, slices, targets);
}

}  // namespace strato
