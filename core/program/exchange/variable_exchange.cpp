#include "core/program/exchange/variable_exchange.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

void set_ranges(Task& task, const AxisRange& first, std::int32_t more_cuts) {
  task.axis = first.axis;
  task.first_sample = first.begin;
  task.samples = first.end - first.begin;
  task.more_cuts = more_cuts;
}

}  // namespace

void VariableExchange::start(Program& program) {
  program_ = &program;
  reduced_.clear();
}

void VariableExchange::lower(OpId update) {
  const VariableSync& variable = *placement_.variable(update);
  readers_.clear();
  for (std::size_t i = 0; i < variable.parts.size(); ++i) {
    const SyncedPart part = part_of(variable, i);
    part.sync->synchroniser == Synchroniser::Ps ? serve(part) : reduce(part);
  }
  if (variable.staleness > 0) keep_gradients(part_of(variable, 0));
}

VariableExchange::SyncedPart VariableExchange::part_of(const VariableSync& variable,
                                                       std::size_t index) {
  const Op& op = tables_.graph->op(variable.update);
  const Tensor& parameter = tables_.graph->tensor(op.inputs[0]);
  SyncedPart part;
  part.update = variable.update;
  part.parameter = op.inputs[0];
  part.gradient = op.inputs[1];
  part.sync = &variable.parts[index];
  part.index = index;
  part.staleness = variable.staleness;
  part.ranges = part_ranges(variable, parameter.shape, index);
  part.shape = part_shape(parameter, part.ranges);
  part.bytes = is_cut(part) ? bytes_of(part, part.gradient) : tables_.tensors[part.gradient].bytes;
  if (part.ranges.size() > 1) {
    part.more_cuts = static_cast<std::int32_t>(program_->more_cuts.size());
    std::copy(part.ranges.begin() + 1, part.ranges.end(),
              program_->more_cuts.emplace_back().begin());
  }
  return part;
}

// Of a tensor as large as the variable.
Bytes VariableExchange::bytes_of(const SyncedPart& part, TensorId tensor) const {
  const std::int64_t element = size_of(tables_.graph->tensor(tensor).type);
  return Bytes(std::max<std::int64_t>(1, part.shape.elements * element));
}

Task VariableExchange::task_of(TaskKind kind, const SyncedPart& part, DeviceId device) const {
  Task task;
  task.kind = kind;
  task.op = tables_.tensors[part.gradient].op;
  task.tensor = part.gradient;
  task.device = device;
  task.samples = tables_.batch;
  task.bytes = part.bytes;
  task.priority = exchange_.priority(part.update);
  if (is_cut(part)) set_ranges(task, part.ranges.front(), part.more_cuts);
  return task;
}

PartId VariableExchange::part_at(const SyncedPart& part, const Instance& at) {
  Part there;
  if (at.end - at.begin != tables_.batch) there = Part::partial_sum(at.begin, at.end);
  for (const AxisRange& range : part.ranges) there = there.cut(range);
  return emitter_.parts().find(there);
}

Bytes VariableExchange::encoded(const SyncedPart& part, const Instance& samples) const {
  return encoded_bytes(*tables_.graph, part.update, part.sync->encoding, part.shape,
                       samples.end - samples.begin);
}

Bytes VariableExchange::bytes_of(const SyncedPart& part, const Term& term) const {
  return term.encoding == Encoding::None ? part.bytes : program_->buffers[term.at.buffer].bytes;
}

VariableExchange::Term VariableExchange::partial(const SyncedPart& part,
                                                 std::size_t replica) const {
  const Instance& made = exchange_.instance(exchange_.first_output(part.gradient) + replica);
  return {part.staleness > 0 ? carried(part, made) : made, Encoding::None};
}

// A replica's term. `fresh`: nobody else may read what it is. What was kept has no buffer: it is
// copied.
VariableExchange::Term VariableExchange::cut(const SyncedPart& part, std::size_t replica,
                                             Encoding encoding, bool fresh) {
  const Term whole = partial(part, replica);
  const bool as_it_is =
      encoding == Encoding::None && part.staleness == 0 && (!fresh || whole.at.exclusive);
  if (!is_cut(part) && as_it_is) return whole;
  return split(part, whole.at, part.bytes, encoding);
}

// A replica's term, as it is sent.
VariableExchange::Term VariableExchange::outgoing(const SyncedPart& part, std::size_t replica) {
  const bool as_it_was = part.staleness > 0 && !is_cut(part);
  if (as_it_was && part.sync->encoding == Encoding::None) return partial(part, replica);
  return cut(part, replica, part.sync->encoding);
}

VariableExchange::Term VariableExchange::encode(const SyncedPart& part, const Term& sum) {
  if (part.sync->encoding == sum.encoding) return sum;
  return split(part, sum.at, part.bytes, part.sync->encoding);
}

VariableExchange::Term VariableExchange::split(const SyncedPart& part, const Instance& from,
                                               Bytes read, Encoding encoding) {
  Task task = task_of(TaskKind::Split, part, from.device);
  if (!is_cut(part)) {
    task.first_sample = from.begin;
    task.samples = from.end - from.begin;
  }
  constexpr std::int64_t kProducts = 4;  // of a low rank, each of all of it
  const Bytes made = encoding == Encoding::None ? part.bytes : encoded(part, from);
  task.encoding = encoding;
  task.bytes = (encoding == Encoding::LowRank ? read * kProducts : read) + made;
  task.duration = exchange_.move_time(from.device, task.bytes);
  emitter_.read(from);
  Term term{from, encoding};
  term.at.buffer = emitter_.write(part.gradient, from.device, made, part_at(part, from));
  term.at.slot = -1;
  term.at.task = emitter_.commit_compute(task);
  term.at.exclusive = true;
  if (!from.task.valid()) readers_[from.device].push_back(term.at.task);
  return term;
}

// Decoded. The terms are of samples that follow each other.
VariableExchange::Term VariableExchange::add_up(const SyncedPart& part, DeviceId device,
                                                std::span<const Term> terms) {
  if (terms.size() == 1 && terms[0].encoding == Encoding::None) return terms[0];
  const bool several =
      terms.size() > 1 || program_->tasks[terms[0].at.task].kind == TaskKind::AllGather;
  Task task = task_of(several ? TaskKind::Sum : TaskKind::Concat, part, device);
  if (!is_cut(part)) {
    task.first_sample = terms.front().at.begin;
    task.samples = terms.back().at.end - task.first_sample;
  }
  for (const Term& term : terms) {
    emitter_.read(term.at);
    task.bytes += bytes_of(part, term);
    if (term.encoding != Encoding::None) task.encoding = term.encoding;
  }
  task.duration = exchange_.move_time(device, task.bytes);
  Term sum;
  sum.at.device = device;
  sum.at.begin = terms.front().at.begin;
  sum.at.end = terms.back().at.end;
  sum.at.buffer = emitter_.write(part.gradient, device, part.bytes, part_at(part, sum.at));
  sum.at.task = emitter_.commit_compute(task);
  sum.at.exclusive = true;
  return sum;
}

// A slice takes its share of the op's time, but no less than the smallest kernel does.
TaskId VariableExchange::update(const SyncedPart& part, DeviceId device, const Term& gradient) {
  const GpuTypeId gpu = tables_.cluster->device(device).type;
  Task task = task_of(TaskKind::Update, part, device);
  const Nanos all = tables_.op_time(tables_.column(gpu, tables_.batch), part.update);
  task.op = part.update;
  task.tensor = TensorId();
  task.bytes = Bytes(0);
  task.duration = all;
  if (is_cut(part)) {
    const std::int64_t elements =
        std::max<std::int64_t>(1, tables_.graph->tensor(part.parameter).elements());
    const auto scaled = static_cast<__int128>(all.value) * part.shape.elements + elements - 1;
    task.duration = std::max(Nanos(static_cast<std::int64_t>(scaled / elements)),
                             std::min(all, tables_.cost->local_move(gpu, Bytes(1))));
  }
  if (!placement_.homes(part.update).has(device)) keep_part(part, part.parameter, device);
  for (const TensorId input : tables_.inputs(part.update))
    if (input != part.parameter && input != part.gradient) keep_part(part, input, device);
  const std::int32_t slot = tables_.tensors[part.parameter].slot;
  emitter_.read(gradient.at);
  emitter_.read_parameter(slot, device);
  emitter_.overwrite(slot, device);
  return emitter_.commit_compute(task);
}

// Of a tensor without producer that the update has: just the part, where it is as large as the
// variable.
void VariableExchange::keep_part(const SyncedPart& part, TensorId tensor, DeviceId device) {
  const auto& shape = tables_.graph->tensor(tensor).shape;
  if (is_cut(part) && shape == tables_.graph->tensor(part.parameter).shape)
    return exchange_.keep_some(tensor, device, bytes_of(part, tensor));
  exchange_.keep(tensor, device);
}

}  // namespace strato
