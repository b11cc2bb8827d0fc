// An op that is split along another axis than the batch: each part has the whole batch, all of some
// inputs and a slice of the others.
//
// A cost model knows no slices. A part takes its share of the op's time on the whole batch, rounded
// up, but no less than the smallest kernel does (or the op, where that takes less).
#include <algorithm>

#include "core/program/lower/op_lowering.h"

namespace strato {
namespace {

Nanos share_of(Nanos time, const AxisRange& range, std::int32_t extent) {
  const auto all = static_cast<__int128>(time.value) * range.size();
  return Nanos(static_cast<std::int64_t>((all + extent - 1) / extent));
}

}  // namespace

void OpLowering::compute_part(OpId op, std::size_t part, std::span<const Instance> brought) {
  const Layout& layout = placement_.layout(op);
  const Shard& shard = layout.shards[part];
  const AxisRange range = layout.range(part, placement_.split(op).axis);
  for (const Instance& instance : brought) emitter_.read(instance);
  Task task;
  task.kind = tables_.ops[op].kind;
  task.op = op;
  task.priority = tasks_.priority(op);
  task.device = shard.device;
  task.part = tasks_.axis(range);
  const Nanos all = tables_.op_time(shard.costs, op);
  const GpuTypeId gpu = tables_.cluster->device(shard.device).type;
  task.duration = std::max(share_of(all, range, layout.cuts.back()),
                           std::min(all, tables_.cost->local_move(gpu, Bytes(1))));
  if (task.kind == TaskKind::Update) overwrite_parameters(op, shard.device);
  for (const TensorId output : tables_.outputs(op)) {
    const AxisRange own = layout.range(part, copies_.made(output).axis);
    const PartId made = tasks_.part(output, own);
    copies_.set(copies_.first(output) + part,
                {emitter_.write(output, shard.device, tasks_.bytes_of(output, made), made),
                 emitter_.next_task(), shard.device, made});
  }
  emitter_.commit_compute(task);
}

void OpLowering::lower_split(OpId op) {
  const PlacedSplit& split = placement_.split(op);
  const std::span<const TensorId> inputs = tables_.inputs(op);
  const auto outputs = tables_.outputs(op);
  for (std::size_t o = 0; o < outputs.size(); ++o)
    copies_.stand_in_parts(
        outputs[o], o == 0 ? split.axis : split_output_axis(*tables_.graph, op, o, split.axis));
  for (std::size_t part = 0; part < placement_.layout(op).shards.size(); ++part) {
    std::vector<Instance> brought;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      brought.push_back(exchange_.part_input(op, inputs[i], part, split.inputs[i]));
    compute_part(op, part, brought);
  }
}

}  // namespace strato
