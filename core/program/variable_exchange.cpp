#include "core/program/variable_exchange.h"

#include <algorithm>

#include "core/base/error.h"

namespace strato {
namespace {

void set_axis(Task& task, const AxisSlice& slice) {
  task.axis = static_cast<std::int8_t>(slice.axis);
  task.first_sample = slice.begin;
  task.samples = slice.end - slice.begin;
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
    const Part part = part_of(variable, i);
    part.sync->synchroniser == Synchroniser::Ps ? serve(part) : reduce(part);
  }
  if (variable.staleness > 0) keep_gradients(part_of(variable, 0));
}

VariableExchange::Part VariableExchange::part_of(const VariableSync& variable,
                                                 std::size_t index) const {
  const Op& op = tables_.graph->op(variable.update);
  const Tensor& parameter = tables_.graph->tensor(op.inputs[0]);
  Part part;
  part.update = variable.update;
  part.parameter = op.inputs[0];
  part.gradient = op.inputs[1];
  part.sync = &variable.parts[index];
  part.index = index;
  part.staleness = variable.staleness;
  const auto parts = static_cast<std::int64_t>(variable.parts.size());
  if (parts == 1) {
    part.shape = part_shape(parameter, 0, 0, parameter.shape.empty() ? 1 : parameter.shape[0]);
    part.bytes = tables_.tensors[part.gradient].bytes;
    return part;
  }
  const std::int64_t extent = parameter.shape[static_cast<std::size_t>(variable.axis)];
  const auto begin = [&](std::size_t i) {  // larger parts first
    const auto at = static_cast<std::int64_t>(i);
    return static_cast<std::int32_t>(extent / parts * at + std::min(at, extent % parts));
  };
  part.slice = {variable.axis, begin(index), begin(index + 1), static_cast<std::int32_t>(extent)};
  part.shape = part_shape(parameter, variable.axis, part.slice.begin, part.slice.end);
  part.bytes = exchange_.bytes_of(part.gradient, part.slice);
  return part;
}

Task VariableExchange::task_of(TaskKind kind, const Part& part, DeviceId device) const {
  Task task;
  task.kind = kind;
  task.op = tables_.tensors[part.gradient].op;
  task.tensor = part.gradient;
  task.device = device;
  task.samples = tables_.batch;
  task.bytes = part.bytes;
  task.priority = exchange_.priority(part.update);
  if (is_cut(part)) set_axis(task, part.slice);
  return task;
}

Bytes VariableExchange::encoded(const Part& part, const Instance& samples) const {
  return encoded_bytes(*tables_.graph, part.update, part.sync->encoding, part.shape,
                       samples.end - samples.begin);
}

Bytes VariableExchange::bytes_of(const Part& part, const Term& term) const {
  return term.encoding == Encoding::None ? part.bytes : program_->buffers[term.at.buffer].bytes;
}

VariableExchange::Term VariableExchange::partial(const Part& part, std::size_t replica) const {
  const Instance& made = exchange_.instance(exchange_.first_output(part.gradient) + replica);
  return {part.staleness > 0 ? carried(part, made) : made, Encoding::None};
}

// A replica's term. `fresh`: nobody else may read what it is. What was kept has no buffer: it is
// copied.
VariableExchange::Term VariableExchange::cut(const Part& part, std::size_t replica,
                                             Encoding encoding, bool fresh) {
  const Term whole = partial(part, replica);
  const bool as_it_is =
      encoding == Encoding::None && part.staleness == 0 && (!fresh || whole.at.exclusive);
  if (!is_cut(part) && as_it_is) return whole;
  return split(part, whole.at, part.bytes, encoding);
}

// A replica's term, as it is sent.
VariableExchange::Term VariableExchange::outgoing(const Part& part, std::size_t replica) {
  const bool as_it_was = part.staleness > 0 && !is_cut(part);
  if (as_it_was && part.sync->encoding == Encoding::None) return partial(part, replica);
  return cut(part, replica, part.sync->encoding);
}

VariableExchange::Term VariableExchange::encode(const Part& part, const Term& sum) {
  if (part.sync->encoding == sum.encoding) return sum;
  return split(part, sum.at, part.bytes, part.sync->encoding);
}

VariableExchange::Term VariableExchange::split(const Part& part, const Instance& from, Bytes read,
                                               Encoding encoding) {
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
  term.at.buffer = emitter_.write(part.gradient, from.device, made);
  term.at.slot = -1;
  term.at.task = emitter_.commit_compute(task);
  term.at.exclusive = true;
  if (!from.task.valid()) readers_[from.device].push_back(term.at.task);
  return term;
}

// Decoded. The terms are of samples that follow each other.
VariableExchange::Term VariableExchange::add_up(const Part& part, DeviceId device,
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
  sum.at.buffer = emitter_.write(part.gradient, device, part.bytes);
  sum.at.task = emitter_.commit_compute(task);
  sum.at.exclusive = true;
  return sum;
}

// A slice takes its share of the op's time, but no less than the smallest kernel does.
TaskId VariableExchange::update(const Part& part, DeviceId device, const Term& gradient) {
  const GpuTypeId gpu = tables_.cluster->device(device).type;
  Task task = task_of(TaskKind::Update, part, device);
  const Nanos all = tables_.op_time(tables_.column(gpu, tables_.batch), part.update);
  task.op = part.update;
  task.tensor = TensorId();
  task.bytes = Bytes(0);
  task.duration = all;
  if (is_cut(part)) {
    const auto scaled = static_cast<__int128>(all.value) * task.samples + part.slice.extent - 1;
    task.duration = std::max(Nanos(static_cast<std::int64_t>(scaled / part.slice.extent)),
                             std::min(all, tables_.cost->local_move(gpu, Bytes(1))));
  }
  if (!placement_.homes(part.update).has(device))
    exchange_.keep(part.parameter, device, part.slice);
  for (const TensorId input : tables_.inputs(part.update)) {
    if (input == part.parameter || input == part.gradient) continue;
    const bool alike =
        tables_.graph->tensor(input).shape == tables_.graph->tensor(part.parameter).shape;
    exchange_.keep(input, device, alike ? part.slice : AxisSlice());
  }
  const std::int32_t slot = tables_.tensors[part.parameter].slot;
  emitter_.read(gradient.at);
  emitter_.read_parameter(slot, device);
  emitter_.overwrite(slot, device);
  return emitter_.commit_compute(task);
}

}  // namespace strato
