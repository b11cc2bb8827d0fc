#include "core/program/project/rank_builder.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/graph/axes/split_axes.h"
#include "core/program/value/collective.h"
#include "core/program/value/tables.h"

namespace strato {
namespace {

using Form = Piece::Form;

}  // namespace

bool RankBuilder::is_trained(TensorId id) const {
  const Tensor& tensor = graph_.tensor(id);
  return !tensor.producer.valid() && tensor.role == TensorRole::Parameter &&
         graph_.update_of(id).valid();
}

RankBuilder::RankBuilder(const Program& program, DeviceId only, bool folded)
    : program_(program),
      only_(only),
      folded_(folded),
      graph_(*program.graph),
      batch_(static_cast<std::int32_t>(program.graph->batch())),
      rank_of_(program.cluster->device_count()),
      value_of_(program.buffers.size()),
      holds_(program.buffers.size()),
      sent_(program.buffers.size()),
      placed_of_(program.tasks.size()) {
  std::vector<bool> works(rank_of_.size());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[TaskId(i)];
    works[task.device.index()] = true;
    if (task.target.valid()) works[task.target.index()] = true;
    for (const DeviceId member : members_of(program, TaskId(i))) works[member.index()] = true;
  }
  for (std::size_t d = 0; d < works.size(); ++d) {
    rank_of_[d] = drafts_.size();
    if (!works[d]) continue;
    if (wanted(DeviceId(d)))
      drafts_.emplace_back(graph_, DeviceId(d));
    else if (drafts_.empty())
      ++first_rank_;
  }
  list_kept_slices();
  list_carried();
}

const Resident* RankBuilder::resident(TensorId tensor, DeviceId device) const {
  const auto& residents = program_.residents;
  const auto at = std::lower_bound(residents.begin(), residents.end(), std::pair(device, tensor),
                                   [](const Resident& resident, const auto& wanted) {
                                     return std::pair(resident.device, resident.tensor) < wanted;
                                   });
  const bool found = at != residents.end() && at->device == device && at->tensor == tensor;
  return found ? &*at : nullptr;
}

// A parameter whose update is split is kept in parts, where they are updated; unless all of it is
// there.
void RankBuilder::list_kept_slices() {
  for (const Task& task : program_.tasks)
    if (task.kind == TaskKind::Update && task.axis >= 0) {
      const TensorId parameter = graph_.op(task.op).inputs.front();
      const Resident* here = resident(parameter, task.device);
      if (here && here->bytes >= graph_.tensor(parameter).bytes()) continue;
      kept_[{task.device, parameter}].push_back(slice_of(parameter, task));
    }
}

// A Split that writes nothing keeps it for the next step.
void RankBuilder::list_carried() {
  for (std::size_t i = 0; i < program_.tasks.size(); ++i) {
    id_ = TaskId(i);
    task_ = &program_.tasks[id_];
    if (!keeps()) continue;
    expect(resident(task_->tensor, task_->device), task_->tensor, "it is kept nowhere");
    std::vector<Piece>& pieces = carried_[{task_->device, task_->tensor}];
    pieces.push_back(of_task(task_->tensor));
    expect(std::ranges::count(pieces, pieces.back()) == 1, task_->tensor, "it is kept twice");
  }
}

void RankBuilder::fail(TensorId tensor, const std::string& problem) const {
  throw InvariantError("task " + std::to_string(id_.value()) + " (" + program_.task_name(id_) +
                       "), tensor " + graph_.tensor(tensor).name + ": " + problem);
}

void RankBuilder::add(TaskId task) {
  id_ = task;
  task_ = &program_.tasks[task];
  placed_of_[task].first = static_cast<std::int32_t>(placed_.size());
  switch (task_->kind) {
    case TaskKind::Compute:
    case TaskKind::Update:
      compute();
      break;
    case TaskKind::Split:
      split();
      break;
    case TaskKind::Concat:
      concat();
      break;
    case TaskKind::Sum:
      sum();
      break;
    case TaskKind::Transfer:
      transfer();
      break;
    case TaskKind::AllReduce:
      all_reduce();
      break;
    case TaskKind::AllGather:
      all_gather();
      break;
    case TaskKind::ReduceScatter:
      reduce_scatter();
      break;
    case TaskKind::Reduce:
    case TaskKind::Broadcast:
      fail(task_->tensor, "no rank can do this");
  }
  placed_of_[task].second = static_cast<std::int32_t>(placed_.size());
}

RankPrograms RankBuilder::finish() && {
  RankPrograms result;
  result.graph = program_.graph;
  for (RankDraft& draft : drafts_)
    result.ranks.push_back(
        std::move(draft).finish(first_rank_ + static_cast<int>(result.ranks.size())));
  return result;
}

Instruction RankBuilder::instruction(InstructionKind kind) const {
  Instruction result;
  result.kind = kind;
  result.stream = is_communication(task_->kind) ? Stream::Communication : Stream::Compute;
  result.task = id_;
  result.duration = task_->duration;
  result.bytes = task_->bytes;
  return result;
}

// It waits for what its task waits for, as far as that is on the same device. What does not
// communicate cannot wait for another one.
void RankBuilder::emit(DeviceId device, const RankDraft::Parts& parts) {
  if (!wanted(device)) return;
  RankDraft& into = draft(device);
  const RankDraft::Index index = into.add(parts);
  for (const TaskId dependency : program_.dependencies[id_.index()]) {
    bool here = false;
    const auto [first, last] = placed_of_[dependency];
    for (std::int32_t i = first; i < last; ++i) {
      const Placed& earlier = placed_[static_cast<std::size_t>(i)];
      if (earlier.device != device) continue;
      into.need(index, earlier.index);
      here = true;
    }
    if (!here && parts.what.stream == Stream::Compute)
      fail(task_->tensor.valid() ? task_->tensor : graph_.op(task_->op).inputs.front(),
           "waits for a task of another device");
  }
  placed_.push_back({device, index});
}

// ---- pieces

Piece RankBuilder::samples(TensorId tensor, std::int32_t begin, std::int32_t end) const {
  const BatchKind kind = is_trained(tensor) ? BatchKind::Whole : graph_.tensor(tensor).batch.kind;
  if (kind == BatchKind::Whole || (begin == 0 && end == batch_)) return {};
  return {kind == BatchKind::Batched ? Form::Samples : Form::Partial, -1, begin, end};
}

Piece RankBuilder::slice(TensorId tensor, int axis, std::int32_t begin, std::int32_t end) const {
  const Shape& shape = graph_.tensor(tensor).shape;
  const auto at = static_cast<std::size_t>(axis);
  expect(at < shape.size() && begin >= 0 && begin < end && end <= shape[at], tensor,
         "it has no such slice");
  if (begin == 0 && end == shape[at]) return {};
  return {Form::Slice, static_cast<std::int8_t>(axis), begin, end};
}

Piece RankBuilder::of_task(TensorId tensor) const {
  const std::int32_t begin = task_->first_sample, end = begin + task_->samples;
  return task_->axis < 0 ? samples(tensor, begin, end) : slice_of(tensor, *task_);
}

Piece RankBuilder::slice_of(TensorId tensor, const Task& task) const {
  Piece piece = slice(tensor, task.axis, task.first_sample, task.first_sample + task.samples);
  piece.more = program_.more_cuts_of(task);
  expect(task.more_cuts < 0 || piece.form == Form::Slice, tensor, "it is all of its first axis");
  return piece;
}

Piece RankBuilder::kept(TensorId tensor, DeviceId device, const Piece& otherwise) const {
  if (!is_trained(tensor)) return otherwise;
  const auto known = kept_.find({device, tensor});
  if (known == kept_.end()) return Piece();
  const std::vector<Piece>& pieces = known->second;
  return std::ranges::find(pieces, otherwise) != pieces.end() ? otherwise : pieces.front();
}

Piece RankBuilder::output_piece(const Op& op, std::size_t output) const {
  const TensorId tensor = op.outputs[output];
  if (task_->axis < 0) return of_task(tensor);
  const int axis =
      output == 0 ? task_->axis : split_output_axis(graph_, task_->op, output, task_->axis);
  expect(axis >= 0, tensor, "it is not known along which axis it is divided");
  return slice(tensor, axis, task_->first_sample, task_->first_sample + task_->samples);
}

// By input of an op that is split along this axis: the axis that it is cut along; -1: it is whole.
// One that a part reads in two ways is needed as a whole.
std::vector<int> RankBuilder::input_axes(const Op& op, int axis) const {
  const std::vector<SplitAxis> axes = split_axes(graph_, task_->op);
  const auto split = std::ranges::find(axes, axis, &SplitAxis::axis);
  expect(split != axes.end(), op.inputs.front(), "its op has no such axis");
  std::vector<int> result = split->inputs;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    for (std::size_t j = 0; j < op.inputs.size(); ++j)
      if (op.inputs[j] == op.inputs[i] && split->inputs[j] != split->inputs[i]) result[i] = -1;
  return result;
}

std::vector<Piece> RankBuilder::input_pieces(const Op& op) const {
  std::vector<Piece> result(op.inputs.size());
  const std::int32_t begin = task_->first_sample, end = begin + task_->samples;
  std::vector<int> axes;
  if (task_->axis >= 0) axes = input_axes(op, task_->axis);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorId input = op.inputs[i];
    if (!input.valid()) continue;
    if (task_->axis < 0)
      result[i] = samples(input, begin, end);
    else if (axes[i] >= 0)
      result[i] = slice(input, axes[i], begin, end);
  }
  if (task_->more_cuts >= 0) cut_more(op, result);
  return result;
}

// An update's inputs are cut alike, or not at all.
void RankBuilder::cut_more(const Op& op, std::vector<Piece>& pieces) const {
  const MoreCuts more = program_.more_cuts_of(*task_);
  for (const AxisRange& range : more) {
    if (range.axis < 0) continue;
    const std::vector<int> axes = input_axes(op, range.axis);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      expect(!op.inputs[i].valid() || axes[i] == (pieces[i].axis < 0 ? -1 : range.axis),
             op.inputs[i], "its axes are not those of what its op updates");
  }
  for (Piece& piece : pieces)
    if (piece.axis >= 0) piece.more = more;
}

// Of a piece along an axis; -1: along the batch.
RankBuilder::Range RankBuilder::range_of(TensorId tensor, const Piece& piece, int axis) const {
  if (piece.form == Form::Partial && axis >= 0 && piece.axis == axis)
    return {piece.from, piece.until};
  if (piece.form != Form::Whole) return {piece.begin, piece.end};
  if (axis < 0) return {0, batch_};
  return {0,
          static_cast<std::int32_t>(graph_.tensor(tensor).shape[static_cast<std::size_t>(axis)])};
}

void RankBuilder::expect_tiles(TensorId tensor, std::vector<Range> ranges, Range whole) const {
  std::sort(ranges.begin(), ranges.end());
  std::int32_t next = whole.first;
  for (const Range& range : ranges) {
    expect(range.first == next, tensor, "its pieces overlap or leave a gap");
    next = range.second;
  }
  expect(next == whole.second, tensor, "its pieces are not all of it");
}

// ---- values

ValueId RankBuilder::find(TensorId tensor, const Piece& piece, const Instruction& reader,
                          DeviceId device) {
  if (!wanted(device)) return kElsewhere;
  for (const BufferId buffer : program_.reads[id_.index()])
    if (const Buffer& of = program_.buffers[buffer];
        of.device == device && of.tensor == tensor && holds_[buffer] == piece)
      return value_of_[buffer];
  const OpId producer = graph_.tensor(tensor).producer;
  if (!producer.valid()) return find_resident(tensor, piece, device);
  if (!is_alias(graph_, producer)) return {};
  return find_view(producer, tensor, piece, reader, device);
}

ValueId RankBuilder::find_resident(TensorId tensor, const Piece& piece, DeviceId device) {
  if (!wanted(device)) return kElsewhere;
  if (!resident(tensor, device)) return {};
  if (kept(tensor, device, piece) != piece) return {};
  return draft(device).resident(tensor, piece);
}

ValueId RankBuilder::find_view(OpId op, TensorId tensor, const Piece& piece,
                               const Instruction& reader, DeviceId device) {
  std::vector<ValueId> inputs;
  ValueId base;
  TensorId first;
  for (const TensorId input : graph_.op(op).inputs) {
    inputs.push_back({});
    if (!input.valid()) continue;
    if (!first.valid()) {
      first = input;
      base = find(input, piece, reader, device);
      if (!base.valid()) return {};
    }
    if (input == first) {
      inputs.back() = base;
    } else if (!is_trained(input)) {
      inputs.back() = find_resident(input, {}, device);
    }
  }
  return draft(device).view(op, tensor, piece, base, inputs, reader);
}

ValueId RankBuilder::find_bytes(TensorId tensor, const Piece& piece, const Instruction& reader,
                                DeviceId device) {
  if (!wanted(device)) return kElsewhere;
  const OpId producer = graph_.tensor(tensor).producer;
  if (producer.valid() && graph_.op(producer).view && is_alias(graph_, producer)) {
    for (const BufferId buffer : program_.reads[id_.index()])
      if (const Buffer& of = program_.buffers[buffer];
          of.device == device && of.tensor == tensor && holds_[buffer] == piece)
        return value_of_[buffer];
    const TensorId input = graph_.op(producer).inputs.front();
    if (input.valid() && piece.form != Form::Slice &&
        bytes_of(graph_.tensor(input), piece, batch_) ==
            bytes_of(graph_.tensor(tensor), piece, batch_))
      return find_bytes(input, piece, reader, device);
  }
  return find(tensor, piece, reader, device);
}

ValueId RankBuilder::get(TensorId tensor, const Piece& piece, const Instruction& reader,
                         DeviceId device) {
  const ValueId value = find(tensor, piece, reader, device);
  if (!value.valid()) fail(tensor, "\"" + describe(piece) + "\" is not on the device");
  return value;
}

ValueId RankBuilder::carried(TensorId tensor, const Piece& piece, DeviceId device) {
  const auto known = carried_.find({device, tensor});
  if (known == carried_.end() || std::ranges::find(known->second, piece) == known->second.end())
    return {};
  return wanted(device) ? draft(device).resident(tensor, piece) : kElsewhere;
}

// Records fill their buffer.
ValueId RankBuilder::bind(BufferId buffer, const Piece& piece, Encoding encoding) {
  const Buffer& to = program_.buffers[buffer];
  Value value{to.tensor, piece, false, encoding, 0};
  if (is_gathered(encoding))
    value.record_count = static_cast<std::int32_t>(
        to.bytes.value / slot_bytes(graph_.tensor(to.tensor), piece, encoding, batch_).value);
  expect(to.bytes == std::max(Bytes(1), bytes_of(graph_, value)), to.tensor,
         "its buffer has another size");
  holds_[buffer] = piece;
  sent_[buffer] = {encoding, value.record_count};
  if (!wanted(to.device)) return value_of_[buffer] = kElsewhere;
  return value_of_[buffer] = draft(to.device).make(to.tensor, piece, encoding, value.record_count);
}

Encoding RankBuilder::encoding_of(BufferId buffer) const { return sent_[buffer].encoding; }

const RankBuilder::RowByDevice& RankBuilder::by_device(std::span<const BufferId> row) const {
  for (const RowByDevice& known : by_device_)
    if (known.row == row.data()) return known;
  RowByDevice& made = by_device_[std::exchange(next_row_, 1 - next_row_)];
  made.row = row.data();
  made.buffers.clear();
  for (const BufferId buffer : row)
    made.buffers.emplace_back(program_.buffers[buffer].device, buffer);
  std::ranges::stable_sort(made.buffers, {}, [](const auto& entry) { return entry.first; });
  return made;
}

// In the order of the row. Of a collective of n members it is asked n times.
std::vector<BufferId> RankBuilder::on_device(std::span<const BufferId> buffers,
                                             DeviceId device) const {
  std::vector<BufferId> result;
  if (buffers.empty()) return result;
  const auto& sorted = by_device(buffers).buffers;
  const auto here =
      std::ranges::equal_range(sorted, device, {}, [](const auto& entry) { return entry.first; });
  for (const auto& [at, buffer] : here) result.push_back(buffer);
  return result;
}

namespace {

RankPrograms build_ranks(const Program& program, std::span<const TaskId> order, DeviceId only) {
  CHECK(order.size() == program.tasks.size(), "an order of another number of tasks");
  RankBuilder builder(program, only);
  std::vector<bool> done(program.tasks.size());
  for (const TaskId task : order) {
    CHECK(task.valid() && task.index() < done.size() && !done[task.index()],
          "an order with a task twice");
    for (const TaskId dependency : program.dependencies[task.index()])
      CHECK(done[dependency.index()],
            program.task_name(task) + " comes before " + program.task_name(dependency));
    done[task.index()] = true;
    builder.add(task);
  }
  return std::move(builder).finish();
}

}  // namespace

RankPrograms rank_programs(const Program& program, std::span<const TaskId> order) {
  return build_ranks(program, order, {});
}

std::optional<RankProgram> rank_program_of(const Program& program, std::span<const TaskId> order,
                                           DeviceId device) {
  CHECK(device.valid() && device.index() < program.cluster->device_count(),
        "a device of the cluster");
  std::vector<RankProgram> ranks = build_ranks(program, order, device).ranks;
  if (ranks.empty()) return std::nullopt;
  return std::move(ranks.front());
}

}  // namespace strato
