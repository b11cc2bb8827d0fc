#include "core/program/lower/mesh_lowering.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/program/exchange/mesh_twins.h"

namespace strato {

// Of the tensor, in its kind of the batch: as many as the shard's row has.
Part MeshLowering::samples(TensorId tensor, const Layout& layout, std::size_t shard) {
  const AxisRange range = placement_.layouts().range(layout, shard, kBatchAxis);
  return emitter_.program().parts[tasks_.samples(tensor, range.begin, range.end)];
}

Part MeshLowering::part_read(OpId op, std::size_t input, std::size_t shard) {
  const Part part = samples(tables_.inputs(op)[input], placement_.layout(op), shard);
  return letters_.share_of(letters_.part_read(part, op, input, shard), op, shard);
}

Part MeshLowering::part_made(OpId op, std::size_t output, std::size_t shard) {
  const Part part = samples(tables_.outputs(op)[output], placement_.layout(op), shard);
  return letters_.share_of(letters_.part_made(part, op, output, shard), op, shard);
}

// Of the op's index space: the row's samples, and of its first output (of an update: its parameter)
// the slice or the addend.
PartId MeshLowering::part_of(OpId op, std::size_t shard) {
  const Layout& layout = placement_.layout(op);
  const AxisRange range = placement_.layouts().range(layout, shard, kBatchAxis);
  Part part;
  if (range.size() < tables_.batch) part = Part::samples(range.begin, range.end);
  const bool update = tables_.outputs(op).empty();
  const Part divided =
      update ? letters_.part_read(part, op, 0, shard) : letters_.part_made(part, op, 0, shard);
  return emitter_.parts().find(letters_.share_of(divided, op, shard));
}

Instance MeshLowering::bring(OpId op, std::size_t input, std::size_t shard) {
  const TensorId tensor = tables_.inputs(op)[input];
  const DeviceId device = placement_.layout(op).shards[shard].device;
  const Part wanted = part_read(op, input, shard);
  const TensorFacts& facts = tables_.tensors[tensor];
  if (facts.source == Source::Resident) {
    if (wanted.is_slice())
      residents_.add_kept(tensor, device, wanted);
    else
      residents_.add_reader(op, tensor, shard);
    Instance instance;
    instance.device = device;
    instance.part = emitter_.parts().find(wanted);
    return instance;
  }
  if (meshes_.has(tensor)) {
    if (facts.op != op && letters_.of(facts.op).shared_axis >= 0) gathers_.read(tensor);
    return meshes_.bring(op, tensor, wanted, device);
  }
  return meshes_.cut(tensor, exchange_.input(op, tensor, shard), wanted);
}

void MeshLowering::compute(OpId op, std::size_t shard, CellOrder* order) {
  const Layout& layout = placement_.layout(op);
  const DeviceId device = layout.shards[shard].device;
  std::vector<Instance> brought;
  for (std::size_t i = 0; i < tables_.inputs(op).size(); ++i)
    brought.push_back(bring(op, i, shard));
  for (const Instance& instance : brought) emitter_.read(instance);
  Task task;
  task.kind = tables_.ops[op].kind;
  task.op = op;
  task.priority = tasks_.priority(op);
  task.device = device;
  task.part = part_of(op, shard);
  task.duration = placement_.layouts().time_of(op, layout.shards[shard]);
  const std::int64_t parts = letters_.part_count(op);
  if (const int axis = letters_.of(op).shared_axis; axis >= 0) {
    const TensorId parameter = tables_.inputs(op).front();
    const std::int32_t own = letters_.share_of({}, op, shard).along(axis)->size();
    const auto all = tables_.graph->tensor(parameter).shape[static_cast<std::size_t>(axis)];
    twins_.check_shares(placement_.layout_id(op), all);
    task.duration = tasks_.share_of(task.duration, device, own, parts * all);
  } else if (parts > 1) {
    task.duration = tasks_.share_of(task.duration, device, 1, parts);
  }
  if (task.kind == TaskKind::Update) overwrite_parameters(emitter_, tables_, op, device);
  const std::span<const TensorId> outputs = tables_.outputs(op);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const PartId part = emitter_.parts().find(part_made(op, o, shard));
    Instance made{{}, emitter_.next_task(), device, part};
    made.exclusive = true;
    if (task.kind != TaskKind::Update)
      made.buffer = emitter_.write(outputs[o], device, tasks_.bytes_of(outputs[o], part), part);
    copies_.set(copies_.first(outputs[o]) + shard, made);
  }
  wait_if_again(emitter_, device);
  if (order) order->add(emitter_, device);
  emitter_.commit_compute(task);
}

// Its outputs are what stands for its first input.
void MeshLowering::view(OpId op, std::size_t shard) {
  const TensorId input = tables_.inputs(op).front();
  const bool alone = tables_.graph->consumers(input).size() == 1 && tables_.outputs(op).size() == 1;
  for (std::size_t i = 1; i < tables_.inputs(op).size(); ++i) bring(op, i, shard);
  Instance instance = bring(op, 0, shard);
  instance.exclusive = instance.exclusive && alone;
  instance.next = -1;
  for (std::size_t o = 0; o < tables_.outputs(op).size(); ++o) {
    instance.part = emitter_.parts().find(part_made(op, o, shard));
    copies_.set(copies_.first(tables_.outputs(op)[o]) + shard, instance);
  }
}

void MeshLowering::lower(OpId op, CellOrder* order) {
  const bool is_view = tables_.ops[op].alias;
  const std::size_t shards = placement_.layout(op).shards.size();
  for (std::size_t shard = 0; shard < shards; ++shard)
    is_view ? view(op, shard) : compute(op, shard, order);
}

}  // namespace strato
