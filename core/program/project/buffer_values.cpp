#include "core/program/project/buffer_values.h"

#include <algorithm>

#include "core/program/value/tables.h"

namespace strato {
namespace {

constexpr ValueId kElsewhere{0};  // a value of a device that is not wanted

}  // namespace

ResidentParts::ResidentParts(const Program& program) : program_(program) {
  list_slices();
  list_carried();
}

const Resident* ResidentParts::find(TensorId tensor, DeviceId device) const {
  const auto place = [](const Resident& resident) {
    return Place(resident.device, resident.tensor);
  };
  const auto at = std::ranges::lower_bound(program_.residents, Place(device, tensor), {}, place);
  const bool found = at != program_.residents.end() && place(*at) == Place(device, tensor);
  return found ? &*at : nullptr;
}

// A parameter whose update is split is kept in slices, where they are updated; unless all of it is
// there.
void ResidentParts::list_slices() {
  for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
    const ProgramTask at{program_, TaskId(i)};
    const Task& task = at.task();
    if (task.kind != TaskKind::Update || program_.cuts_of(task).empty()) continue;
    const TensorId parameter = at.op().inputs.front();
    const Resident* here = find(parameter, task.device);
    if (here && here->bytes >= program_.graph->tensor(parameter).bytes()) continue;
    slices_[{task.device, parameter}].push_back(stated_part(at, parameter));
  }
}

void ResidentParts::list_carried() {
  for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
    const ProgramTask at{program_, TaskId(i)};
    const Task& task = at.task();
    if (!task.keeps) continue;
    at.expect(has(task.tensor, task.device), task.tensor, "it is kept nowhere");
    std::vector<Part>& parts = carried_[{task.device, task.tensor}];
    parts.push_back(stated_part(at, task.tensor));
    at.expect(std::ranges::count(parts, parts.back()) == 1, task.tensor, "it is kept twice");
  }
}

Part ResidentParts::standing_for(TensorId tensor, DeviceId device, const Part& wanted) const {
  if (!is_trained(*program_.graph, tensor)) return wanted;
  const auto known = slices_.find({device, tensor});
  if (known == slices_.end()) return Part();
  const std::vector<Part>& parts = known->second;
  return std::ranges::find(parts, wanted) != parts.end() ? wanted : parts.front();
}

std::span<const Part> ResidentParts::carried(TensorId tensor, DeviceId device) const {
  const auto known = carried_.find({device, tensor});
  return known == carried_.end() ? std::span<const Part>() : std::span(known->second);
}

BufferValues::BufferValues(const Program& program, const ResidentParts& residents,
                           RankDrafts& drafts)
    : program_(program),
      graph_(*program.graph),
      residents_(residents),
      drafts_(drafts),
      value_(program.buffers.size()),
      encoding_(program.buffers.size()),
      reduced_(program.buffers.size()) {}

Part BufferValues::part_of(BufferId buffer) const {
  const Part& written = program_.part_of(buffer);
  return reduced_[buffer] ? written.total() : written;
}

Part BufferValues::partial_sum_of(const ProgramTask& at, BufferId buffer) const {
  const Part part = part_of(buffer);
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
  return {program_.buffers[buffer].tensor, part_of(buffer), false, encoding_[buffer],
          record_count(buffer)};
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

void BufferValues::reduce_in_place(BufferId buffer) {
  reduced_[buffer] = true;
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

ValueId BufferValues::find(const ProgramTask& at, const Wanted& wanted) {
  if (!drafts_.wanted(wanted.device)) return kElsewhere;
  if (const ValueId read = find_read(at, wanted); read.valid()) return read;
  const OpId producer = graph_.tensor(wanted.tensor).producer;
  if (!producer.valid()) return find_resident(wanted);
  return is_alias(graph_, producer) ? find_view(at, producer, wanted) : ValueId();
}

ValueId BufferValues::find_resident(const Wanted& wanted) {
  const auto& [tensor, part, device] = wanted;
  if (!drafts_.wanted(device)) return kElsewhere;
  if (!residents_.has(tensor, device)) return {};
  if (residents_.standing_for(tensor, device, part) != part) return {};
  return drafts_.of(device).resident(tensor, part);
}

ValueId BufferValues::find_carried(const Wanted& wanted) {
  const auto& [tensor, part, device] = wanted;
  const auto carried = residents_.carried(tensor, device);
  if (std::ranges::find(carried, part) == carried.end()) return {};
  return drafts_.wanted(device) ? drafts_.of(device).resident(tensor, part) : kElsewhere;
}

// A view is of its op's first input; others may only be known before the step.
ValueId BufferValues::find_view(const ProgramTask& at, OpId op, const Wanted& wanted) {
  std::vector<ValueId> inputs;
  ValueId base;
  TensorId first;
  Wanted needed = wanted;
  for (const TensorId input : graph_.op(op).inputs) {
    inputs.push_back({});
    if (!input.valid()) continue;
    needed.tensor = input;
    if (!first.valid()) {
      first = input;
      base = find(at, needed);
      if (!base.valid()) return {};
    }
    if (input == first)
      inputs.back() = base;
    else if (!is_trained(graph_, input))
      inputs.back() = find_resident({input, {}, wanted.device});
  }
  return drafts_.of(wanted.device)
      .view({op, wanted.tensor, wanted.part, base, inputs, at.id, stream_of(at)});
}

ValueId BufferValues::find_bytes(const ProgramTask& at, const Wanted& wanted) {
  if (!drafts_.wanted(wanted.device)) return kElsewhere;
  const OpId producer = graph_.tensor(wanted.tensor).producer;
  if (producer.valid() && graph_.op(producer).view && is_alias(graph_, producer)) {
    if (const ValueId read = find_read(at, wanted); read.valid()) return read;
    const TensorId input = graph_.op(producer).inputs.front();
    if (input.valid() && !wanted.part.is_slice() &&
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
