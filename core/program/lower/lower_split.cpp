// An op that is split along another axis than the batch: each part has the whole batch, all of some
// inputs and a slice of the others.
//
// A cost model knows no slices. A part takes its share of the op's time on the whole batch, rounded
// up, but no less than the smallest kernel does (or the op, where that takes less).
#include <algorithm>

#include "core/program/lower/lower_state.h"

namespace strato {
namespace {

Nanos share_of(Nanos time, const AxisSlice& slice) {
  const auto all = static_cast<__int128>(time.value) * (slice.end - slice.begin);
  return Nanos(static_cast<std::int64_t>((all + slice.extent - 1) / slice.extent));
}

}  // namespace

void LowerState::bring_slices(OpId op, std::size_t part) {
  const PlacedSplit& split = placement.split(op);
  const Layout& layout = placement.layout(op);
  const std::span<const TensorId> inputs = tables.inputs(op);
  brought.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    brought.push_back(exchange.part_input(op, inputs[i], layout.shards[part].device,
                                          slice_of(layout, part, split.inputs[i])));
}

void LowerState::compute_part(OpId op, std::size_t part) {
  const Layout& layout = placement.layout(op);
  const Shard& shard = layout.shards[part];
  const std::span<const TensorId> outputs = tables.outputs(op);
  const AxisSlice slice = slice_of(layout, part, placement.split(op).axis);
  for (const Instance& instance : brought) emitter.read(instance);
  Task task;
  task.kind = tables.ops[op].kind;
  task.op = op;
  task.priority = exchange.priority(op);
  task.device = shard.device;
  task.axis = static_cast<std::int8_t>(slice.axis);
  task.first_sample = slice.begin;
  task.samples = slice.end - slice.begin;
  const Nanos all = tables.op_time(shard.costs, op);
  const GpuTypeId gpu = tables.cluster->device(shard.device).type;
  task.duration =
      std::max(share_of(all, slice), std::min(all, tables.cost->local_move(gpu, Bytes(1))));
  if (task.kind == TaskKind::Update) overwrite_parameters(op, shard.device);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    Instance made;
    made.device = shard.device;
    made.end = tables.batch;
    made.task = emitter.next_task();
    AxisSlice own = slice;
    if (o > 0) own.axis = split_output_axis(*tables.graph, op, o, slice.axis);
    made.buffer = emitter.write(outputs[o], shard.device, exchange.bytes_of(outputs[o], slice),
                                exchange.part_of(own));
    set_output(o, part, made);
  }
  emitter.commit_compute(task);
}

void LowerState::lower_split(OpId op) {
  const Op& what = tables.graph->op(op);
  const int axis = placement.split(op).axis;
  for (std::size_t o = 0; o < what.outputs.size(); ++o)
    exchange.stand_in_parts(what.outputs[o],
                            o == 0 ? axis : split_output_axis(*tables.graph, op, o, axis));
  for (std::size_t part = 0; part < placement.layout(op).shards.size(); ++part) {
    bring_slices(op, part);
    compute_part(op, part);
  }
}

}  // namespace strato
