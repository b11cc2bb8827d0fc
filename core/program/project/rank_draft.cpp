#include "core/program/project/rank_draft.h"

#include <algorithm>
#include <numeric>

namespace strato {
ValueId RankDraft::add_value(const Value& value) {
  const ValueId id = values_.next_id();
  values_.push_back({value, ValueId(), kNone});
  return id;
}

ValueId RankDraft::make(TensorId tensor, const Piece& piece, Encoding encoding,
                        std::int32_t slots) {
  return add_value({tensor, piece, false, encoding, slots});
}

ValueId RankDraft::resident(TensorId tensor, const Piece& piece) {
  std::vector<ValueId>& known = residents_[tensor];
  for (const ValueId id : known)
    if (values_[id].what.piece == piece) return id;
  known.push_back(add_value({tensor, piece, true, Encoding::None, 0}));
  return known.back();
}

RankDraft::Place RankDraft::place_after(Index writer) const {
  const Place own = next_place();
  if (writer == kNone) return {-1, own.anchor};
  return {places_[writer].anchor, own.anchor};
}

ValueId RankDraft::view(OpId op, TensorId tensor, const Piece& piece, ValueId base,
                        std::span<const ValueId> inputs, const Instruction& reader) {
  std::vector<View>& views = views_[root(base)];
  auto known = std::find_if(views.begin(), views.end(),
                            [&](const View& view) { return view.op == op && view.base == base; });
  if (known == views.end())
    known = views.insert(views.end(), {op, base, add_view(op, piece, base, inputs, reader)});
  const auto& outputs = graph_.op(op).outputs;
  const auto at = std::find(outputs.begin(), outputs.end(), tensor);
  return known->made[static_cast<std::size_t>(at - outputs.begin())];
}

std::vector<ValueId> RankDraft::add_view(OpId op, const Piece& piece, ValueId base,
                                         std::span<const ValueId> inputs,
                                         const Instruction& reader) {
  Instruction view;
  view.kind = InstructionKind::View;
  view.task = reader.task;
  view.op = op;
  view.piece = piece;
  const Index writer = values_[base].writer;
  const bool early = reader.stream == Stream::Communication && !slice_writers_.contains(base) &&
                     (writer == kNone || instructions_[writer].stream == Stream::Compute);
  std::vector<ValueId> made;
  for (const TensorId output : graph_.op(op).outputs) {
    made.push_back(make(output, piece));
    values_[made.back()].base = root(base);
  }
  add_at(early ? place_after(writer) : next_place(),
         {.what = view, .reads = inputs, .writes = made});
  return made;
}

void RankDraft::forget_views(ValueId base) { views_.erase(root(base)); }

bool RankDraft::touches_slice(const Instruction& what, ValueId id) const {
  const Known& known = values_[id];
  const bool can = what.kind == InstructionKind::Update || what.kind == InstructionKind::Send ||
                   what.kind == InstructionKind::Receive;
  return can && what.piece.form == Piece::Form::Slice && known.what.resident &&
         known.what.piece.form == Piece::Form::Whole && !known.base.valid();
}

// A view is made by its op, and is what its base is.
void RankDraft::need_writers(Index reader, const Instruction& what, ValueId value) {
  for (const ValueId id : {value, root(value)}) {
    if (const Index writer = values_[id].writer; writer != kNone && writer != reader)
      need(reader, writer);
    const auto slices = slice_writers_.find(id);
    if (slices == slice_writers_.end()) continue;
    const bool some = touches_slice(what, value);
    for (const SliceWriter& writer : slices->second)
      if (!some || overlap(writer.piece, what.piece)) need(reader, writer.index);
  }
}

void RankDraft::set_writer(Index index, const Instruction& what, ValueId id) {
  if (!touches_slice(what, id)) {
    values_[id].writer = index;
    slice_writers_.erase(id);
    return;
  }
  std::vector<SliceWriter>& slices = slice_writers_[id];
  std::erase_if(slices, [&](const SliceWriter& other) { return other.piece == what.piece; });
  slices.push_back({what.piece, index});
}

void RankDraft::note_writer(Index index, const Parts& parts) {
  for (const ValueId id : parts.writes) set_writer(index, parts.what, id);
  const bool in_place = parts.what.kind == InstructionKind::Update ||
                        (parts.what.kind == InstructionKind::AllReduce && parts.writes.empty());
  if (!in_place) return;
  for (const ValueId id : parts.reads) {
    if (!id.valid()) continue;
    const TensorRole role = graph_.tensor(values_[id].what.tensor).role;
    const bool kept = role != TensorRole::Parameter && role != TensorRole::OptimizerState;
    if (parts.what.kind == InstructionKind::Update && kept) continue;
    set_writer(index, parts.what, id);
    if (root(id) != id) set_writer(index, parts.what, root(id));
  }
}

RankDraft::Index RankDraft::add_at(const Place& place, const Parts& parts) {
  const auto index = static_cast<Index>(instructions_.size());
  for (const ValueId id : parts.reads)
    if (id.valid()) need_writers(index, parts.what, id);
  note_writer(index, parts);
  instructions_.push_back(parts.what);
  places_.push_back(place);
  reads_.push_row(parts.reads);
  writes_.push_row(parts.writes);
  members_.push_row(parts.members);
  cuts_.push_row(parts.cuts);
  return index;
}

RankDraft::Index RankDraft::add(const Parts& parts) { return add_at(next_place(), parts); }

std::vector<RankDraft::Index> RankDraft::in_order() const {
  std::vector<Index> order(instructions_.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto earlier = [&](Index a, Index b) { return places_[a] < places_[b]; };
  if (!std::is_sorted(order.begin(), order.end(), earlier))
    std::sort(order.begin(), order.end(), earlier);
  return order;
}

RankProgram RankDraft::finish(int rank) && {
  RankProgram program;
  program.rank = rank;
  program.device = device_;
  IdVector<ValueId, ValueId> base_of;
  for (const Known& known : values_) {
    program.values.push_back(known.what);
    base_of.push_back(known.base);
  }
  std::vector<Index> now(instructions_.size());
  for (const Index index : in_order()) {
    now[index] = static_cast<Index>(program.instructions.size());
    program.instructions.push_back(instructions_[index]);
    program.reads.push_row(reads_[index]);
    program.writes.push_row(writes_[index]);
    program.members.push_row(members_[index]);
    program.cuts.push_row(cuts_[index]);
  }
  for (Need& need : needs_) need = {now[need.later], now[need.earlier]};
  order_streams(program, std::move(needs_), base_of);
  return program;
}

}  // namespace strato
