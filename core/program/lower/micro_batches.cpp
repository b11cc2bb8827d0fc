#include "core/program/lower/micro_batches.h"

#include <algorithm>
#include <vector>

namespace strato {

void MicroBatchLowering::enter(std::int32_t micro) {
  ops_.placement().layouts().enter(micro);
  ops_.emitter().marks().micro = micro;
}

bool MicroBatchLowering::lower(const MicroBatches& micro_batches, Program& into, bool repeat) {
  const Pipeline pipeline(ops_.tables(), ops_.placement(), micro_batches);
  into.stage_of = pipeline.chunks().stages_of_devices();
  for (const OpId op : pipeline.chunks().before()) ops_.lower(op);
  CellOrder order;
  const bool in_order = micro_batches.schedule != PipelineSchedule::AsReady;
  if (in_order) ops_.set_order(&order);
  const std::vector<ScheduleCell> cells = pipeline.cells();
  if (repeat && RepeatedCells::can_repeat(cells))
    repeated_.emplace(ops_.tables(), ops_.emitter(), ops_.copies(), ops_.residents(),
                      in_order ? &order : nullptr, into, pipeline.chunks().passes().size());
  for (const ScheduleCell& cell : cells) {
    order.begin_cell(into.tasks.next_id());
    if (!lower_or_repeat(pipeline, cell)) return false;
  }
  if (repeated_) repeated_->repeat_residents();
  ops_.set_order(nullptr);
  enter(-1);
  for (const OpId op : pipeline.chunks().after()) ops_.lower(op);
  return true;
}

bool MicroBatchLowering::lower_or_repeat(const Pipeline& pipeline, const ScheduleCell& cell) {
  if (!repeated_) return lower_cell(pipeline, cell), true;
  const std::size_t pass = Chunks::pass_of(cell);
  if (cell.micro > 1) {
    enter(-1);
    repeated_->repeat(pass, cell.micro);
    return true;
  }
  repeated_->begin(pass, cell.micro);
  lower_cell(pipeline, cell);
  return repeated_->end();
}

void MicroBatchLowering::lower_cell(const Pipeline& pipeline, const ScheduleCell& cell) {
  const Tables& tables = ops_.tables();
  const auto is_once = [&](OpId reader) { return !tables.is_repeated(reader); };
  enter(cell.micro);
  for (const OpId op : pipeline.ops(cell)) {
    all_.lower(op);
    for (const TensorId output : tables.outputs(op)) {
      if (tables.tensors[output].kind != BatchKind::Partial) continue;
      const auto readers = tables.graph->consumers(output);
      if (readers.empty() || std::ranges::any_of(readers, is_once))
        accumulate(op, output, cell.micro);
    }
  }
}

// What a term of one micro-batch is when those of all are added to it.
PartId MicroBatchLowering::of_all(const Instance& term) {
  const Tables& tables = ops_.tables();
  Emitter& emitter = ops_.emitter();
  const Part part = emitter.program().parts[term.part];
  const AxisRange* samples = part.along(kBatchAxis);
  if (samples == nullptr || samples->size() == tables.micro_batch)
    return emitter.parts().find(part.without(kBatchAxis));
  const std::int32_t begin = samples->begin % tables.micro_batch;
  return emitter.parts().find(part.cut({kBatchAxis, begin, begin + samples->size()})
                                  .repeated(tables.micro_batch, tables.micro_batches));
}

// What the op has summed up over the micro-batch is added, in place, to what it made of the first
// one, which stands for all of them from then on: what runs once finds it so.
void MicroBatchLowering::accumulate(OpId op, TensorId sum, std::int32_t micro) {
  const LayoutId layout = ops_.placement().layout_id(op);
  const std::vector<Shard>& shards = ops_.placement().layout(layout).shards;
  Copies& copies = ops_.copies();
  std::vector<Instance> terms;
  const bool scattered = ops_.mesh_sums().scatter_of_micro_batch(sum);
  for (std::size_t s = 0; s < shards.size(); ++s)
    terms.push_back(scattered ? ops_.mesh_sums().scattered(sum, s) : copies.of_shard(sum, s));
  ops_.placement().layouts().enter(-1);
  const bool first = copies.made(sum).form == Copies::Form::Absent;
  if (first) copies.declare(sum, layout);
  for (std::size_t s = 0; s < shards.size(); ++s) {
    Instance total = first ? terms[s] : copies.of_shard(sum, s);
    if (!first) {
      const TaskId added = ops_.tasks().add(sum, total, terms[s]);
      if (repeated_) repeated_->add_sum(added, sum, s, total.task);
      total.task = added;
    }
    total.part = of_all(terms[s]);
    copies.set(copies.first(sum) + s, total);
  }
  ops_.placement().layouts().enter(micro);
}

}  // namespace strato
