#include "core/program/project/buffer_values.h"

#include <algorithm>

#include "core/program/value/tables.h"

namespace strato {
namespace {

constexpr ValueId kElsewhere{0};  // a value of a device that is not wanted

}  // namespace

BufferValues::BufferValues(const Program& program, RankDrafts& drafts)
    : program_(program),
      graph_(*program.graph),
      drafts_(drafts),
      value_(program.buffers.size()),
      encoding_(program.buffers.size()),
      changed_(program.buffers.size(), -1) {}

Part BufferValues::part_of(BufferId buffer) const {
  const std::int32_t changed = changed_[buffer];
  return changed < 0 ? program_.part_of(buffer) : parts_[static_cast<std::size_t>(changed)];
}

Part BufferValues::part_of(const ProgramTask& at, BufferId buffer) const {
  return part_in_view(graph_, program_.buffers[buffer].tensor, at.task().tensor, part_of(buffer));
}

Part BufferValues::partial_sum_of(const ProgramTask& at, BufferId buffer) const {
  const Part part = part_of(at, buffer);
  at.expect(part.is_partial_sum(), program_.buffers[buffer].tensor, "a term is not a partial sum");
  return part;
}

// Records fill their buffer.
std::int32_t BufferValues::record_count(BufferId buffer) const {
  if (!is_gathered(encoding_[buffer])) return 0;
  const Buffer& of = program_.buffers[buffer];
  const Bytes slot =
      slot_bytes(graph_.tensor(of.tensor), part_of(buffer), encoding_[buffer], graph_.batch());
  return static_cast<std::int32_t>(of.bytes.value / slot.value);
}

Value BufferValues::described(BufferId buffer) const {
  const Buffer& of = program_.buffers[buffer];
  return {of.tensor, part_of(buffer), false, of.on_host, encoding_[buffer], record_count(buffer)};
}

ValueId BufferValues::bind(const ProgramTask& at, BufferId buffer, Encoding encoding) {
  const Buffer& to = program_.buffers[buffer];
  encoding_[buffer] = encoding;
  const Value value = described(buffer);
  at.expect(to.bytes == std::max(Bytes(1), bytes_of(graph_, value)), to.tensor,
            "its buffer has another size");
  if (!drafts_.wanted(to.device)) return value_[buffer] = kElsewhere;
  return value_[buffer] = drafts_.of(to.device).make(value);
}

void BufferValues::change_in_place(BufferId buffer, const Part& part) {
  if (changed_[buffer] < 0) {
    changed_[buffer] = static_cast<std::int32_t>(parts_.size());
    parts_.push_back(part);
  }
  parts_[static_cast<std::size_t>(changed_[buffer])] = part;
  const DeviceId device = program_.buffers[buffer].device;
  if (drafts_.wanted(device)) drafts_.of(device).forget_views(value_[buffer]);
}

ValueId BufferValues::find_read(const ProgramTask& at, const Wanted& wanted) const {
  for (const BufferId buffer : at.reads())
    if (const Buffer& of = program_.buffers[buffer];
        of.device == wanted.device && of.tensor == wanted.tensor && part_of(buffer) == wanted.part)
      return value_[buffer];
  return {};
}

Part BufferValues::standing_for(TensorId tensor, DeviceId device, const Part& wanted) const {
  const std::span<const Resident> here = program_.residents_of(tensor, device);
  if (here.empty() || !is_trained(graph_, tensor)) return wanted;
  const auto is_wanted = [&](const Resident& of) { return program_.part_of(of) == wanted; };
  return std::ranges::any_of(here, is_wanted) ? wanted : program_.part_of(here.front());
}

// Of what is neither trained nor made any part can be had: it is read from the data.
bool BufferValues::is_resident(TensorId tensor, DeviceId device, const Part& part) const {
  const std::span<const Resident> here = program_.residents_of(tensor, device);
  if (!graph_.tensor(tensor).producer.valid() && !is_trained(graph_, tensor)) return !here.empty();
  return std::ranges::any_of(
      here, [&](const Resident& of) { return !of.on_host && program_.part_of(of) == part; });
}

ValueId BufferValues::resident_on_host(const ProgramTask& at) {
  const Task& task = at.task();
  const std::span<const Resident> all = program_.residents_of(task.tensor, task.device);
  at.expect(std::ranges::any_of(
                all, [&](const Resident& of) { return of.on_host && of.part == task.part; }),
            task.tensor, "it rests in no host's memory");
  if (!drafts_.wanted(task.device)) return kElsewhere;
  return drafts_.of(task.device).resident(task.tensor, program_.part_of(task), true);
}

ValueId BufferValues::find(const ProgramTask& at, const Wanted& wanted) {
  if (!drafts_.wanted(wanted.device)) return kElsewhere;
  if (const ValueId read = find_read(at, wanted); read.valid()) return read;
  if (const ValueId kept = find_kept(at, wanted); kept.valid()) return kept;
  const OpId producer = graph_.tensor(wanted.tensor).producer;
  if (!producer.valid()) return find_resident(wanted);
  return is_alias(graph_, producer) ? find_view(at, producer, wanted) : ValueId();
}

ValueId BufferValues::find_resident(const Wanted& wanted) {
  if (!drafts_.wanted(wanted.device)) return kElsewhere;
  if (!is_resident(wanted.tensor, wanted.device, wanted.part)) return {};
  return drafts_.of(wanted.device).resident(wanted.tensor, wanted.part);
}

ValueId BufferValues::find_kept(const ProgramTask& at, const Wanted& wanted) {
  const bool is_made = graph_.tensor(wanted.tensor).producer.valid();
  return is_made && at.reads().empty() ? find_resident(wanted) : ValueId();
}

// Other inputs than what it is a view of may only be known before the step.
ValueId BufferValues::find_view(const ProgramTask& at, OpId op, const Wanted& wanted) {
  const TensorId first = viewed(graph_, op);
  const ValueId base = find(at, {first, part_viewed(graph_, op, wanted.part), wanted.device});
  if (!base.valid()) return {};
  std::vector<ValueId> inputs;
  for (const TensorId input : graph_.op(op).inputs) {
    ValueId& value = inputs.emplace_back();
    if (input == first)
      value = base;
    else if (input.valid() && !is_trained(graph_, input))
      value = find_resident({input, {}, wanted.device});
  }
  return drafts_.of(wanted.device)
      .view({op, wanted.tensor, wanted.part, base, inputs, at.id, at.stream()});
}

ValueId BufferValues::find_bytes(const ProgramTask& at, const Wanted& wanted) {
  if (!drafts_.wanted(wanted.device)) return kElsewhere;
  const OpId producer = graph_.tensor(wanted.tensor).producer;
  if (producer.valid() && graph_.op(producer).view && is_alias(graph_, producer)) {
    if (const ValueId read = find_read(at, wanted); read.valid()) return read;
    if (const ValueId kept = find_kept(at, wanted); kept.valid()) return kept;
    const TensorId input = graph_.op(producer).inputs.front();
    if (input.valid() && wanted.part.cuts().empty() &&
        bytes_of(graph_.tensor(input), wanted.part, graph_.batch()) ==
            bytes_of(graph_.tensor(wanted.tensor), wanted.part, graph_.batch())) {
      Wanted base = wanted;
      base.tensor = input;
      return find_bytes(at, base);
    }
  }
  return find(at, wanted);
}

ValueId BufferValues::get(const ProgramTask& at, const Wanted& wanted) {
  const ValueId value = find(at, wanted);
  if (!value.valid())
    at.fail(wanted.tensor, "\"" + describe(wanted.part) + "\" is not on the device");
  return value;
}

}  // namespace strato
