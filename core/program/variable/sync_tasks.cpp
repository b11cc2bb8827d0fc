#include "core/program/variable/sync_tasks.h"

#include <algorithm>

namespace strato {

SyncedPart SyncTasks::part_of(const VariableSync& variable, std::size_t index) const {
  const Op& op = tables_.graph->op(variable.update);
  SyncedPart part;
  part.update = variable.update;
  part.parameter = op.inputs[0];
  part.gradient = op.inputs[1];
  part.sync = &variable.parts[index];
  part.index = index;
  part.staleness = variable.staleness;
  part.box = part_box(variable, tables_.graph->tensor(part.parameter).shape, index);
  part.bytes = tables_.tensors[part.gradient].bytes;
  if (part.is_cut())
    part.bytes = std::max(
        Bytes(1), strato::bytes_of(tables_.graph->tensor(part.gradient), part.box, tables_.batch));
  return part;
}

PartId SyncTasks::part(const SyncedPart& part, const AxisRange& samples) {
  const std::int32_t all = tables_.micro_batch;  // a term is of some samples of every micro-batch
  if (samples.size() >= all) return emitter_.parts().find(part.box);
  Part term = Part::partial_sum(samples.begin, samples.end).repeated(all, tables_.micro_batches);
  for (const AxisRange& range : part.box.cuts()) term = term.cut(range);
  return emitter_.parts().find(term);
}

Bytes SyncTasks::bytes_of(const SyncedPart& part, const GradientTerm& term) const {
  return term.encoding == Encoding::None ? part.bytes
                                         : emitter_.program().buffers[term.at.buffer].bytes;
}

Task SyncTasks::task_of(TaskKind kind, const SyncedPart& part, DeviceId device) {
  Task task;
  task.kind = kind;
  task.op = tables_.tensors[part.gradient].op;
  task.tensor = part.gradient;
  task.device = device;
  task.part = emitter_.parts().find(part.box);
  task.bytes = part.bytes;
  task.priority = tasks_.priority(part.update);
  return task;
}

// Of a stale variable: what stood in the place of this gradient when the step began, in no buffer.
GradientTerm SyncTasks::partial(const SyncedPart& part, std::size_t replica) const {
  const Instance& made = copies_.of_shard(part.gradient, replica);
  if (part.staleness == 0) return {made, Encoding::None};
  Instance kept;
  kept.device = made.device;
  kept.part = made.part;
  return {kept, Encoding::None};
}

// What was kept has no buffer: it is copied.
GradientTerm SyncTasks::cut(const SyncedPart& part, std::size_t replica, Encoding encoding,
                            bool fresh) {
  const GradientTerm whole = partial(part, replica);
  const bool as_it_is =
      encoding == Encoding::None && part.staleness == 0 && (!fresh || whole.at.exclusive);
  if (!part.is_cut() && as_it_is) return whole;
  return split(part, whole.at, encoding);
}

GradientTerm SyncTasks::outgoing(const SyncedPart& part, std::size_t replica) {
  const bool as_it_was = part.staleness > 0 && !part.is_cut();
  if (as_it_was && part.sync->encoding == Encoding::None) return partial(part, replica);
  return cut(part, replica, part.sync->encoding);
}

GradientTerm SyncTasks::encode(const SyncedPart& part, const GradientTerm& sum) {
  return part.sync->encoding == sum.encoding ? sum : split(part, sum.at, part.sync->encoding);
}

GradientTerm SyncTasks::split(const SyncedPart& what, const Instance& from, Encoding encoding) {
  constexpr std::int64_t kProducts = 4;  // of a low rank, each of all of it
  const AxisRange samples = tasks_.samples_of(from);
  const std::int64_t looked_up =
      std::min<std::int64_t>(tables_.batch, std::int64_t{samples.size()} * tables_.micro_batches);
  const Bytes made =
      encoding == Encoding::None
          ? what.bytes
          : encoded_bytes(*tables_.graph, what.update, what.sync->encoding, what.box, looked_up);
  Task task = task_of(TaskKind::Split, what, from.device);
  task.part = part(what, samples);
  task.encoding = encoding;
  task.bytes = (encoding == Encoding::LowRank ? what.bytes * kProducts : what.bytes) + made;
  emitter_.read(from);
  return {tasks_.make(task, from.device, task.part, made), encoding};
}

GradientTerm SyncTasks::add_up(const SyncedPart& what, DeviceId device,
                               std::span<const GradientTerm> terms) {
  if (terms.size() == 1 && terms[0].encoding == Encoding::None) return terms[0];
  const bool several =
      terms.size() > 1 || emitter_.program().tasks[terms[0].at.task].kind == TaskKind::AllGather;
  const AxisRange samples{kBatchAxis, tasks_.samples_of(terms.front().at).begin,
                          tasks_.samples_of(terms.back().at).end};
  Task task = task_of(several ? TaskKind::Sum : TaskKind::Concat, what, device);
  task.part = part(what, samples);
  for (const GradientTerm& term : terms) {
    emitter_.read(term.at);
    task.bytes += bytes_of(what, term);
    if (term.encoding != Encoding::None) task.encoding = term.encoding;
  }
  return {tasks_.make(task, device, task.part, what.bytes), Encoding::None};
}

GradientTerm SyncTasks::send(const SyncedPart& part, const GradientTerm& term, DeviceId to) {
  Task task = task_of(TaskKind::Transfer, part, term.at.device);
  task.part = term.at.part;
  task.encoding = term.encoding;
  task.bytes = bytes_of(part, term);
  return {tasks_.move(task, term.at, to), term.encoding};
}

TaskId SyncTasks::update(const SyncedPart& part, DeviceId device, const GradientTerm& gradient) {
  const GpuTypeId gpu = tables_.cluster->device(device).type;
  Task task = task_of(TaskKind::Update, part, device);
  task.op = part.update;
  task.tensor = TensorId();
  task.bytes = Bytes(0);
  task.duration = tables_.op_time(tables_.column(gpu, tables_.batch), part.update);
  if (part.is_cut()) {
    const Tensor& parameter = tables_.graph->tensor(part.parameter);
    task.duration =
        tasks_.share_of(task.duration, device, elements_of(parameter, part.box, tables_.batch),
                        std::max<std::int64_t>(1, parameter.elements()));
  }
  if (!placement_.homes(part.update).has(device)) keep_state(part, part.parameter, device);
  for (const TensorId input : tables_.inputs(part.update))
    if (input != part.parameter && input != part.gradient) keep_state(part, input, device);
  const std::int32_t slot = tables_.tensors[part.parameter].slot;
  emitter_.read(gradient.at);
  emitter_.read_parameter(slot, device);
  emitter_.overwrite(slot, device);
  return emitter_.commit_compute(task);
}

// Of a tensor without producer that the update has: just the part, where it is as large as the
// variable.
void SyncTasks::keep_state(const SyncedPart& part, TensorId tensor, DeviceId device) {
  const auto& shape = tables_.graph->tensor(tensor).shape;
  if (part.is_cut() && shape == tables_.graph->tensor(part.parameter).shape)
    return residents_.add_part(tensor, device, part.box);
  residents_.add_all(tensor, device);
}

Instance SyncTasks::send_value(const SyncedPart& what, const Instance& from, DeviceId to) {
  Task task = task_of(TaskKind::Transfer, what, from.device);
  task.op = what.update;
  task.tensor = what.parameter;
  if (!placement_.homes(what.update).has(to)) return tasks_.move(task, from, to);
  tasks_.set_transfer(task, from.device, to);
  emitter_.read(from);
  emitter_.overwrite(tables_.tensors[what.parameter].slot, to);
  return {{}, emitter_.commit_transfer(task), to, task.part};
}

void SyncTasks::keep(const SyncedPart& part, const Instance& made, Bytes bytes) {
  Task task = task_of(TaskKind::Split, part, made.device);
  task.keeps = true;
  task.part = made.part;
  task.bytes = 2 * bytes;
  task.duration = tasks_.move_time(made.device, task.bytes);
  emitter_.read(made);
  emitter_.commit_compute(task);
  residents_.carry({part.gradient, made.device, bytes, made.part});
}

}  // namespace strato
