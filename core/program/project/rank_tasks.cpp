// What each kind of task becomes on the ranks that take part.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/project/rank_builder.h"
#include "core/program/value/collective.h"

namespace strato {
namespace {

using Form = Piece::Form;

}  // namespace

void RankBuilder::compute() {
  const Op& op = graph_.op(task_->op);
  const bool update = task_->kind == TaskKind::Update;
  const DeviceId device = task_->device;
  if (!wanted(device)) {
    const auto made = program_.writes[id_.index()];
    for (std::size_t o = 0; o < made.size(); ++o) bind(made[o], output_piece(op, o));
    return;
  }
  Instruction what = instruction(update ? InstructionKind::Update : InstructionKind::Compute);
  what.op = task_->op;
  const std::int32_t begin = task_->first_sample, end = begin + task_->samples;
  if (task_->axis >= 0)
    what.piece = {Form::Slice, task_->axis, begin, end, 0, 0, program_.more_cuts_of(*task_)};
  else if (task_->samples != batch_)
    what.piece = {Form::Samples, -1, begin, end};
  const std::vector<Piece> pieces = input_pieces(op);
  std::vector<ValueId> reads, writes;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const bool trained = update && i == 0;  // a part of a parameter that is whole there
    const Piece piece = trained ? kept(op.inputs[i], device, pieces[i]) : pieces[i];
    ValueId read;
    if (update && i == 1 && program_.reads[id_.index()].empty())
      read = carried(op.inputs[i], piece, device);
    if (!read.valid() && op.inputs[i].valid()) read = get(op.inputs[i], piece, what, device);
    reads.push_back(read);
  }
  const auto buffers = program_.writes[id_.index()];
  CHECK(buffers.size() == (update ? 0 : op.outputs.size()),
        program_.task_name(id_) + " does not write its outputs");
  for (std::size_t o = 0; o < buffers.size(); ++o) {
    CHECK(program_.buffers[buffers[o]].tensor == op.outputs[o],
          program_.task_name(id_) + " writes its outputs in another order");
    writes.push_back(bind(buffers[o], output_piece(op, o)));
  }
  emit(device, {.what = what, .reads = reads, .writes = writes});
}

// Of the tensor that a Split takes a part of.
Piece RankBuilder::split_source() const {
  const auto reads = program_.reads[id_.index()];
  if (!reads.empty()) return holds_[reads.front()];
  if (const auto of = carried_.find({task_->device, task_->tensor}); of != carried_.end())
    for (const Piece& piece : of->second)
      if (piece.form == Form::Partial) return piece;
  TensorId root = task_->tensor;
  while (graph_.tensor(root).producer.valid()) {
    const Op& producer = graph_.op(graph_.tensor(root).producer);
    root = *std::find_if(producer.inputs.begin(), producer.inputs.end(),
                         [](TensorId input) { return input.valid(); });
  }
  return kept(root, task_->device, task_->axis >= 0 ? Piece() : of_task(task_->tensor));
}

void RankBuilder::split() {
  const TensorId tensor = task_->tensor;
  Instruction what = instruction(InstructionKind::Split);
  const Piece source = split_source();
  const bool kept_before = !keeps() && program_.reads[id_.index()].empty();
  const bool of_sum = source.form == Form::Partial;
  what.piece = of_sum ? part_of_sum(source) : of_task(tensor);
  const int axis = task_->axis;
  expect(source.form == Form::Whole || source.form == what.piece.form, tensor,
         "it is cut along another axis than what it is cut from");
  expect(source.form != Form::Slice || source.axis == axis, tensor,
         "it is cut along another axis than what it is cut from");
  expect(source.more == MoreCuts() || source.more == what.piece.more, tensor,
         "it is cut along other axes than what it is cut from");
  const Range all =
      of_sum && source.axis < 0 ? range_of(tensor, {}, axis) : range_of(tensor, source, axis);
  const Range part = range_of(tensor, what.piece, axis);
  expect((of_sum && axis < 0) || (all.first <= part.first && part.second <= all.second), tensor,
         "what it is cut from is not there");
  ValueId from = kept_before ? carried(tensor, source, task_->device) : ValueId();
  if (!from.valid()) from = get(tensor, source, what, task_->device);
  const ValueId to = keeps()
                         ? carried(tensor, what.piece, task_->device)
                         : bind(program_.writes[id_.index()].front(), what.piece, task_->encoding);
  expect(to.valid(), tensor, "it is kept as something else");
  emit(task_->device, {.what = what, .reads = {&from, 1}, .writes = {&to, 1}});
}

// What the task cuts of a partial sum, which may be cut so already.
Piece RankBuilder::part_of_sum(const Piece& sum) const {
  if (task_->axis < 0) return sum;
  Piece part = sum;
  const Piece along =
      slice(task_->tensor, task_->axis, task_->first_sample, task_->first_sample + task_->samples);
  expect(along.form == Form::Slice, task_->tensor, "its part is all of it");
  part.axis = task_->axis;
  part.from = along.begin;
  part.until = along.end;
  part.more = program_.more_cuts_of(*task_);
  return part;
}

// What terms like this one, of all samples, add up to.
Piece RankBuilder::whole_sum(const Piece& term) const {
  if (term.axis < 0) return {};
  return {Form::Slice, term.axis, term.from, term.until, 0, 0, term.more};
}

// In their order; what no buffer holds is resident.
std::vector<RankBuilder::Part> RankBuilder::concat_parts(const Instruction& what,
                                                         const Piece& made) {
  const TensorId tensor = task_->tensor;
  const int axis = task_->axis;
  std::vector<Piece> pieces;
  for (const BufferId buffer : program_.reads[id_.index()]) pieces.push_back(holds_[buffer]);
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  const auto [first, last] = range_of(tensor, made, axis);
  std::vector<Part> parts;
  const auto add = [&](const Piece& piece) {
    parts.push_back({piece, get(tensor, piece, what, task_->device)});
  };
  std::int32_t next = first;
  const auto fill = [&](std::int32_t until) {
    if (next < until)
      add(axis < 0 ? samples(tensor, next, until) : slice(tensor, axis, next, until));
  };
  for (const Piece& piece : pieces) {
    expect(piece.form == (axis < 0 ? Form::Samples : Form::Slice) && piece.axis == axis &&
               piece.more == MoreCuts() && piece.begin >= next,
           tensor, "its pieces overlap or are of another kind");
    fill(piece.begin);
    add(piece);
    next = piece.end;
  }
  fill(last);
  expect(next <= last, tensor, "its pieces are more than it");
  return parts;
}

// What one message holds.
void RankBuilder::decode(BufferId from) {
  Instruction what =
      instruction(task_->kind == TaskKind::Sum ? InstructionKind::Sum : InstructionKind::Concat);
  what.piece = holds_[from];
  const ValueId read = value_of_[from];
  const ValueId to = bind(program_.writes[id_.index()].front(), what.piece);
  emit(task_->device, {.what = what, .reads = {&read, 1}, .writes = {&to, 1}});
}

void RankBuilder::concat() {
  if (task_->encoding != Encoding::None) return decode(program_.reads[id_.index()].front());
  Instruction what = instruction(InstructionKind::Concat);
  what.piece = of_task(task_->tensor);
  std::vector<ValueId> reads;
  for (const Part& part : concat_parts(what, what.piece)) reads.push_back(part.value);
  const ValueId to = bind(program_.writes[id_.index()].front(), what.piece);
  emit(task_->device, {.what = what, .reads = reads, .writes = {&to, 1}});
}

Piece RankBuilder::partial_of(BufferId buffer) const {
  expect(holds_[buffer].form == Form::Partial, program_.buffers[buffer].tensor,
         "a term is not a partial sum");
  return holds_[buffer];
}

void RankBuilder::sum() {
  const TensorId tensor = task_->tensor;
  const auto buffers = program_.reads[id_.index()];
  if (task_->encoding != Encoding::None && buffers.size() == 1) return decode(buffers.front());
  Instruction what = instruction(InstructionKind::Sum);
  std::vector<Piece> terms;
  for (const BufferId buffer : program_.reads[id_.index()]) terms.push_back(partial_of(buffer));
  std::sort(terms.begin(), terms.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  std::vector<Range> ranges;
  std::vector<ValueId> reads;
  for (const Piece& term : terms) {
    expect(whole_sum(term) == whole_sum(terms.front()), tensor, "its terms are of other slices");
    ranges.push_back({term.begin, term.end});
    reads.push_back(get(tensor, term, what, task_->device));
  }
  const std::int32_t begin = task_->first_sample, end = begin + task_->samples;
  const Range all =
      task_->axis < 0 ? Range{begin, end} : Range{terms.front().begin, terms.back().end};
  expect_tiles(tensor, ranges, all);
  Piece sum = terms.front();
  sum.end = all.second;
  if (all == Range{0, batch_}) sum = whole_sum(sum);
  what.piece = sum.form == Form::Whole ? what.piece : sum;
  const ValueId to = bind(program_.writes[id_.index()].front(), sum);
  emit(task_->device, {.what = what, .reads = reads, .writes = {&to, 1}});
}

void RankBuilder::transfer() {
  const TensorId tensor = task_->tensor;
  const auto buffers = program_.reads[id_.index()];
  const auto written = program_.writes[id_.index()];
  Instruction what = instruction(InstructionKind::Send);
  const Piece there =
      buffers.empty() ? kept(tensor, task_->device, of_task(tensor)) : holds_[buffers.front()];
  const ValueId before = buffers.empty() ? carried(tensor, there, task_->device) : ValueId();
  // Of a parameter that is whole on both sides perhaps a slice alone.
  const bool cuts =
      buffers.empty() && there.form == Form::Whole && task_->axis >= 0 && is_trained(tensor);
  what.piece = cuts ? of_task(tensor) : there;
  const Range said{task_->first_sample, task_->first_sample + task_->samples};
  const bool fits = buffers.size() <= 1 && range_of(tensor, what.piece, task_->axis) == said &&
                    (what.piece.form != Form::Slice || what.piece.axis == task_->axis) &&
                    what.piece.more == program_.more_cuts_of(*task_);
  if (!fits) fail(tensor, "\"" + describe(what.piece) + "\" is there, not what is to be sent");
  what.peer = task_->target;
  const ValueId from = before.valid() ? before : find_bytes(tensor, there, what, task_->device);
  expect(from.valid(), tensor, "what is to be sent is not there");
  emit(task_->device, {.what = what, .reads = {&from, 1}});
  what.kind = InstructionKind::Receive;
  what.peer = task_->device;
  const Encoding encoding = buffers.empty() ? Encoding::None : encoding_of(buffers.front());
  const ValueId to =
      written.empty()
          ? find_resident(tensor, kept(tensor, task_->target, what.piece), task_->target)
          : bind(written.front(), what.piece, encoding);
  expect(to.valid(), tensor, "it arrives nowhere");
  emit(task_->target, {.what = what, .writes = {&to, 1}});
}

void RankBuilder::all_reduce() {
  const std::vector<DeviceId> members = members_of(program_, id_);
  Instruction what = instruction(InstructionKind::AllReduce);
  std::vector<std::vector<Range>> ranges;  // by value
  for (const DeviceId member : members) {
    std::vector<ValueId> reads, writes;
    const auto buffers = on_device(program_.reads[id_.index()], member);
    ranges.resize(buffers.size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const Piece term = partial_of(buffers[i]);
      ranges[i].push_back({term.begin, term.end});
      reads.push_back(value_of_[buffers[i]]);
    }
    for (const BufferId buffer : on_device(program_.writes[id_.index()], member))
      writes.push_back(bind(buffer, {}));
    if (task_->axis >= 0) what.piece = whole_sum(holds_[buffers.front()]);
    expect(writes.empty() || writes.size() == reads.size(), task_->tensor, "its sum has no place");
    emit(member, {.what = what, .reads = reads, .writes = writes, .members = members});
    if (!writes.empty()) continue;
    for (const BufferId buffer : buffers) {
      holds_[buffer] = whole_sum(holds_[buffer]);
      if (wanted(member)) draft(member).forget_views(value_of_[buffer]);
    }
  }
  if (folded_) return;  // others have what is missing
  for (const std::vector<Range>& of : ranges) expect_tiles(task_->tensor, of, {0, batch_});
}

// By member. Input samples that are resident can be had anywhere: equal parts of them.
std::vector<Piece> RankBuilder::gathered_pieces(std::span<const DeviceId> members) const {
  const TensorId tensor = task_->tensor;
  std::vector<Piece> pieces;
  const auto count = static_cast<std::int64_t>(members.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const DeviceId member = members[static_cast<std::size_t>(i)];
    const auto buffers = on_device(program_.reads[id_.index()], member);
    const auto cut = [&](std::int64_t part) {
      return static_cast<std::int32_t>(part * batch_ / count);
    };
    const Piece otherwise = task_->axis < 0 ? samples(tensor, cut(i), cut(i + 1)) : Piece();
    pieces.push_back(buffers.empty() ? kept(tensor, member, otherwise) : holds_[buffers.front()]);
  }
  return pieces;
}

// Every member's records, which are of partial sums.
void RankBuilder::gather_records(std::span<const DeviceId> members) {
  Instruction what = instruction(InstructionKind::AllGather);
  std::vector<std::int32_t> cuts = {0};
  std::vector<Range> terms;
  std::vector<BufferId> from;
  for (const DeviceId member : members) {
    const auto read = on_device(program_.reads[id_.index()], member);
    expect(read.size() == 1 && encoding_of(read.front()) == task_->encoding, task_->tensor,
           "a member has not one term, encoded as it is said");
    from.push_back(read.front());
    const Piece term = partial_of(read.front());
    terms.push_back({term.begin, term.end});
    what.piece = whole_sum(term);
    cuts.push_back(cuts.back() + sent_[read.front()].records);
  }
  expect_tiles(task_->tensor, terms, {0, batch_});
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ValueId read = value_of_[from[i]];
    const auto written = on_device(program_.writes[id_.index()], members[i]);
    expect(written.size() == 1, task_->tensor, "what is gathered has no place");
    const ValueId to = bind(written.front(), what.piece, task_->encoding);
    emit(members[i],
         {.what = what, .reads = {&read, 1}, .writes = {&to, 1}, .members = members, .cuts = cuts});
  }
}

void RankBuilder::all_gather() {
  const TensorId tensor = task_->tensor;
  const std::vector<DeviceId> members = members_of(program_, id_);
  if (task_->encoding != Encoding::None) return gather_records(members);
  Instruction what = instruction(InstructionKind::AllGather);
  const std::vector<Piece> pieces = gathered_pieces(members);
  std::vector<std::int32_t> cuts = {0};
  std::vector<Range> ranges;
  for (const Piece& piece : pieces) {
    expect(piece.form == (task_->axis < 0 ? Form::Samples : Form::Slice) &&
               piece.axis == task_->axis && piece.more == MoreCuts() && piece.begin == cuts.back(),
           tensor, "a member's piece of it is of another kind or out of order");
    ranges.push_back({piece.begin, piece.end});
    cuts.push_back(piece.end);
  }
  expect_tiles(tensor, ranges, range_of(tensor, {}, task_->axis));
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ValueId from = get(tensor, pieces[i], what, members[i]);
    const auto written = on_device(program_.writes[id_.index()], members[i]);
    expect(written.size() == 1, tensor, "what is gathered has no place");
    const ValueId to = bind(written.front(), {});
    emit(members[i],
         {.what = what, .reads = {&from, 1}, .writes = {&to, 1}, .members = members, .cuts = cuts});
  }
}

// The buffers say how it is cut: along an axis the bytes are as the extents.
void RankBuilder::reduce_scatter() {
  const TensorId tensor = task_->tensor;
  const std::vector<DeviceId> members = members_of(program_, id_);
  Instruction what = instruction(InstructionKind::ReduceScatter);
  expect(task_->axis >= 0, tensor, "it is not said along which axis it is scattered");
  const std::int64_t extent = range_of(tensor, {}, task_->axis).second;
  const Bytes all = graph_.tensor(tensor).bytes();
  std::vector<Range> terms;
  std::vector<std::int32_t> cuts = {0};
  std::vector<BufferId> from, to;
  for (const DeviceId member : members) {
    const auto read = on_device(program_.reads[id_.index()], member);
    const auto written = on_device(program_.writes[id_.index()], member);
    expect(read.size() == 1 && written.size() == 1, tensor, "a member has not one term and part");
    from.push_back(read.front());
    to.push_back(written.front());
    const Piece term = partial_of(read.front());
    terms.push_back({term.begin, term.end});
    const auto scaled = static_cast<__int128>(program_.buffers[to.back()].bytes.value) * extent;
    cuts.push_back(cuts.back() + static_cast<std::int32_t>(scaled / all.value));
  }
  expect_tiles(tensor, terms, {0, batch_});
  expect(cuts.back() == extent, tensor, "its parts are not all of it");
  for (std::size_t i = 0; i < members.size(); ++i) {
    what.piece = slice(tensor, task_->axis, cuts[i], cuts[i + 1]);
    const ValueId term = get(tensor, holds_[from[i]], what, members[i]);
    const ValueId part = bind(to[i], what.piece);
    emit(members[i], {.what = what,
                      .reads = {&term, 1},
                      .writes = {&part, 1},
                      .members = members,
                      .cuts = cuts});
  }
}

}  // namespace strato
