#include "core/program/project/rank_builder.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"
#include "core/graph/build/copy_graph.h"
#include "core/program/value/op_parts.h"
#include "core/program/value/tables.h"

namespace strato {

RankBuilder::RankBuilder(const Program& program, DeviceId only, bool folded)
    : program_(program),
      folded_(folded),
      drafts_(program, only),
      values_(program, drafts_),
      placed_of_(program.tasks.size()) {
  find_losses();
}

void RankBuilder::find_losses() {
  const std::vector<TensorId> losses = loss_tensors(*program_.graph);
  for (const TaskId task : program_.tasks.ids()) {
    if (program_.tasks[task].kind != TaskKind::Compute) continue;
    for (const BufferId id : program_.writes[task.index()]) {
      const Buffer& buffer = program_.buffers[id];
      if (std::ranges::find(losses, buffer.tensor) == losses.end()) continue;
      DeviceId& first =
          first_with_.try_emplace({buffer.tensor, buffer.part}, buffer.device).first->second;
      first = std::min(first, buffer.device);
    }
  }
}

void RankBuilder::add(TaskId task) {
  const ProgramTask at{program_, task};
  placed_of_[task].first = static_cast<std::int32_t>(placed_.size());
  using Add = void (RankBuilder::*)(const ProgramTask&);
  using Self = RankBuilder;
  // By TaskKind: no rank can do a Reduce or a Broadcast.
  static constexpr std::array<Add, 14> kAdd = {
      &Self::compute,    &Self::split,      &Self::concat,     &Self::sum,
      &Self::transfer,   &Self::all_reduce, &Self::all_gather, &Self::reduce_scatter,
      &Self::all_to_all, nullptr,           nullptr,           &Self::compute,
      &Self::host_copy,  &Self::host_copy};
  const Add add = kAdd.at(static_cast<std::size_t>(at.task().kind));
  if (add == nullptr) at.fail(at.task().tensor, "no rank can do this");
  (this->*add)(at);
  placed_of_[task].second = static_cast<std::int32_t>(placed_.size());
}

RankPrograms RankBuilder::finish() && { return {program_.graph, std::move(drafts_).finish()}; }

Instruction RankBuilder::instruction(const ProgramTask& at, Kind kind, const Part& part) {
  Instruction what;
  what.kind = kind;
  what.stream = at.stream();
  what.task = at.id;
  if (kind == Kind::Compute || kind == Kind::Update) what.op = at.task().op;
  what.part = part;
  what.duration = at.task().duration;
  what.bytes = at.task().bytes;
  return what;
}

// The instruction waits for what its task waits for, as far as that is on the same device. What
// does not communicate cannot wait for another one.
void RankBuilder::emit(const ProgramTask& at, DeviceId device, const Instruction& what,
                       std::span<const ValueId> reads, std::span<const ValueId> writes,
                       std::span<const DeviceId> members, std::span<const std::int32_t> cuts) {
  if (!drafts_.wanted(device)) return;
  RankDraft& into = drafts_.of(device);
  const RankDraft::Index index = into.add({what, reads, writes, members, cuts});
  for (const TaskId dependency : program_.dependencies[at.id.index()]) {
    bool here = false;
    const auto [first, last] = placed_of_[dependency];
    for (std::int32_t i = first; i < last; ++i) {
      const Placed& earlier = placed_[static_cast<std::size_t>(i)];
      if (earlier.device != device) continue;
      into.need(index, earlier.index);
      here = true;
    }
    if (!here && what.stream == Stream::Compute)
      at.fail(at.task().tensor.valid() ? at.task().tensor : at.op().inputs.front(),
              "waits for a task of another device");
  }
  placed_.push_back({device, index});
}

void RankBuilder::compute(const ProgramTask& at) {
  const Op& op = at.op();
  const DeviceId device = at.task().device;
  const bool update = at.task().kind == TaskKind::Update;
  if (!drafts_.wanted(device)) {
    for (const BufferId buffer : at.writes()) values_.bind(at, buffer);
    return;
  }
  const auto cuts = program_.cuts_of(at.task());
  const bool by_axes =
      cuts.size() > 1 &&
      letters_of(*program_.graph, at.task().op, program_.part_of(at.task())).empty();
  for (const AxisRange& cut : by_axes ? cuts : cuts.first(0))
    at.expect(std::ranges::count(split_axes(*program_.graph, at.task().op), cut.axis,
                                 &SplitAxis::axis) > 0,
              op.inputs.front(), "its op has no such axis");
  const std::vector<Part> parts = input_parts(at);
  std::vector<ValueId> reads, writes;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    BufferValues::Wanted wanted{op.inputs[i], parts[i], device};
    if (update && i == 0)  // perhaps a slice of a parameter that is whole there
      wanted.part = values_.standing_for(op.inputs[i], device, parts[i]);
    reads.push_back(op.inputs[i].valid() ? values_.get(at, wanted) : ValueId());
  }
  CHECK(at.writes().size() == (update ? 0 : op.outputs.size()),
        program_.task_name(at.id) + " does not write its outputs");
  for (std::size_t o = 0; o < at.writes().size(); ++o) {
    CHECK(program_.buffers[at.writes()[o]].tensor == op.outputs[o],
          program_.task_name(at.id) + " writes its outputs in another order");
    writes.push_back(values_.bind(at, at.writes()[o]));
    const Buffer& made = program_.buffers[at.writes()[o]];
    if (const auto loss = first_with_.find({made.tensor, made.part});
        loss != first_with_.end() && loss->second == device)
      drafts_.of(device).report_loss(writes.back());
  }
  const Kind kind = update ? Kind::Update : Kind::Compute;
  emit(at, device, instruction(at, kind, program_.part_of(at.task())), reads, writes);
}

// The part of its tensor that a Split reads: a buffer's, or a resident one's, perhaps through
// views.
Part RankBuilder::split_source(const ProgramTask& at) const {
  const Task& task = at.task();
  if (!at.reads().empty()) return values_.part_of(at, at.reads().front());
  for (const Resident& resident : program_.residents_of(task.tensor, task.device))
    if (const Part& part = program_.part_of(resident); part.is_partial_sum()) return part;
  return values_.standing_for(
      root_of(*program_.graph, task.tensor), task.device,
      program_.cuts_of(task).empty() ? stated_part(at, task.tensor) : Part());
}

void RankBuilder::split(const ProgramTask& at) {
  const auto& [tensor, device] = std::pair(at.task().tensor, at.task().device);
  const Part source = split_source(at);
  const Part part = stated_part(at, tensor);
  const bool keeps = at.task().keeps;
  at.expect(is_cut_from(part, source), tensor, "what it is cut from is not there");
  const ValueId from = values_.get(at, {tensor, source, device});
  const ValueId to = keeps ? values_.find_resident({tensor, part, device})
                           : values_.bind(at, at.writes().front(), at.task().encoding);
  at.expect(to.valid(), tensor, "it is kept nowhere, or as something else");
  emit(at, device, instruction(at, Kind::Split, part), {&from, 1}, {&to, 1});
}

// In their order along the task's axis; what no buffer holds is resident.
std::vector<Part> RankBuilder::concat_parts(const ProgramTask& at, const Part& made) const {
  const TensorId tensor = at.task().tensor;
  const int axis = at.reads().empty() ? program_.range_of(at.task()).axis
                                      : joined_axis(values_.part_of(at, at.reads().front()), made);
  const Graph& graph = *program_.graph;
  const auto range_of = [&](const Part& part) { return range_along(graph, tensor, part, axis); };
  std::vector<Part> read, parts;
  for (const BufferId buffer : at.reads()) read.push_back(values_.part_of(at, buffer));
  std::ranges::sort(read, {}, [&](const Part& part) { return range_of(part).begin; });
  std::int32_t next = range_of(made).begin;
  const auto fill = [&](std::int32_t until) {
    const AxisRange gap{static_cast<std::int8_t>(axis), next, until};
    if (next >= until) return;
    parts.push_back(axis < 0                  ? samples_part(graph, tensor, next, until)
                    : gap == all_of(at, axis) ? made.without(axis)
                                              : made.cut(gap));
  };
  for (const Part& part : read) {
    at.expect(part.along(axis) && part.without(axis) == made.without(axis) &&
                  range_of(part).begin >= next,
              tensor, "its pieces overlap or are of another kind");
    fill(range_of(part).begin);
    parts.push_back(part);
    next = range_of(part).end;
  }
  fill(range_of(made).end);
  at.expect(next <= range_of(made).end, tensor, "its pieces are more than it");
  return parts;
}

void RankBuilder::concat(const ProgramTask& at) {
  if (at.task().encoding != Encoding::None) return decode(at);
  const auto& [tensor, device] = std::pair(at.task().tensor, at.task().device);
  const Part made = program_.part_of(at.writes().front());
  std::vector<ValueId> reads;
  for (const Part& part : concat_parts(at, made))
    reads.push_back(values_.get(at, {tensor, part, device}));
  const ValueId to = values_.bind(at, at.writes().front());
  emit(at, device, instruction(at, Kind::Concat, made), reads, {&to, 1});
}

// One message's content.
void RankBuilder::decode(const ProgramTask& at) {
  const BufferId from = at.reads().front();
  const Kind kind = at.task().kind == TaskKind::Sum ? Kind::Sum : Kind::Concat;
  const ValueId read = values_.value_of(from), to = values_.bind(at, at.writes().front());
  emit(at, at.task().device, instruction(at, kind, values_.part_of(from)), {&read, 1}, {&to, 1});
}

void RankBuilder::add_in_place(const ProgramTask& at) {
  const auto& [tensor, device] = std::pair(at.task().tensor, at.task().device);
  at.expect(at.reads().size() == 2, tensor, "what is added to is no sum and a term");
  const BufferId sum = at.reads()[0], term = at.reads()[1];
  const Part part = sum_with_next(at, values_.part_of(sum), values_.part_of(term));
  const std::array<ValueId, 2> reads{values_.value_of(sum), values_.value_of(term)};
  values_.change_in_place(sum, part);
  emit(at, device, instruction(at, Kind::Sum, part), reads, {});
}

void RankBuilder::sum(const ProgramTask& at) {
  if (at.writes().empty()) return add_in_place(at);
  if (at.task().encoding != Encoding::None && at.reads().size() == 1) return decode(at);
  const auto& [tensor, device] = std::pair(at.task().tensor, at.task().device);
  const Part sum = program_.part_of(at.writes().front());
  std::vector<Part> terms;
  for (const BufferId buffer : at.reads()) terms.push_back(values_.partial_sum_of(at, buffer));
  std::ranges::sort(terms, {}, [](const Part& term) { return term.addend().begin; });
  std::vector<ValueId> reads;
  for (const Part& term : terms) reads.push_back(values_.get(at, {tensor, term, device}));
  expect_sum(at, tensor, terms, sum);
  const ValueId to = values_.bind(at, at.writes().front());
  emit(at, device, instruction(at, Kind::Sum, sum), reads, {&to, 1});
}

}  // namespace strato
