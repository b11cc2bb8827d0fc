#include "core/program/draft/rank_draft.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/parallel.h"
#include "core/program/value/collective.h"

namespace strato {

void LastWriters::set(ValueId value, const Part* slice, Index writer) {
  if (!slice) {
    whole_[value] = writer;
    slices_.erase(value);
    return;
  }
  std::vector<SliceWriter>& slices = slices_[value];
  std::erase_if(slices, [&](const SliceWriter& other) { return other.part == *slice; });
  slices.push_back({*slice, writer});
}

ValueId RankDraft::make(const Value& value) {
  draft_.values.push_back(value);
  writers_.add_value();
  base_of_.push_back({});
  return ValueId(draft_.values.size() - 1);
}

ValueId RankDraft::resident(TensorId tensor, const Part& part, bool on_host) {
  std::vector<ValueId>& known = residents_[tensor];
  for (const ValueId id : known)
    if (draft_.values[id].part == part) return id;
  known.push_back(make({tensor, part, true, on_host, Encoding::None, 0}));
  return known.back();
}

RankDraft::Place RankDraft::place_after(Index writer) const {
  const Place own = next_place();
  if (writer == LastWriters::kNone) return {-1, own.anchor};
  return {places_[writer].anchor, own.anchor};
}

ValueId RankDraft::view(const View& view) {
  std::vector<MadeView>& views = views_[root(view.base)];
  auto known = std::ranges::find_if(
      views, [&](const MadeView& made) { return made.op == view.op && made.base == view.base; });
  if (known == views.end()) known = views.insert(views.end(), {view.op, view.base, add_view(view)});
  const auto& outputs = graph_.op(view.op).outputs;
  const auto at = std::ranges::find(outputs, view.output) - outputs.begin();
  return known->outputs[static_cast<std::size_t>(at)];
}

std::vector<ValueId> RankDraft::add_view(const View& view) {
  Instruction what;
  what.kind = InstructionKind::View;
  what.task = view.reader;
  what.op = view.op;
  what.part = view.part;
  const Index writer = writers_.of(view.base);
  const bool early =
      view.stream != Stream::Compute && !writers_.has_slices(view.base) &&
      (writer == LastWriters::kNone || draft_.instructions[writer].stream == Stream::Compute);
  std::vector<ValueId> made;
  for (const TensorId output : graph_.op(view.op).outputs) {
    made.push_back(make({output, view.part, false, false, Encoding::None, 0}));
    base_of_[made.back()] = root(view.base);
  }
  add_at(early ? place_after(writer) : next_place(),
         {.what = what, .reads = view.inputs, .writes = made});
  return made;
}

void RankDraft::forget_views(ValueId base) { views_.erase(root(base)); }

const Part* RankDraft::used_slice(const Instruction& what, ValueId id) const {
  const Value& value = draft_.values[id];
  const bool can = what.kind == InstructionKind::Update || what.kind == InstructionKind::Send ||
                   what.kind == InstructionKind::Receive;
  const bool does = can && what.part.is_slice() && value.resident && value.part.is_whole() &&
                    !base_of_[id].valid();
  return does ? &what.part : nullptr;
}

// A view is made by its op, and changes with its base.
void RankDraft::need_writers(Index reader, const Instruction& what, ValueId value) {
  const Part* slice = used_slice(what, value);
  const auto wait = [&](Index writer) {
    if (writer != reader) need(reader, writer);
  };
  writers_.visit_before(value, slice, wait);
  if (root(value) != value) writers_.visit_before(root(value), slice, wait);
}

void RankDraft::note_writer(Index index, const Entry& entry) {
  const auto set = [&](ValueId id) { writers_.set(id, used_slice(entry.what, id), index); };
  for (const ValueId id : entry.writes) set(id);
  const bool in_place = entry.what.kind == InstructionKind::Update ||
                        (entry.what.kind == InstructionKind::AllReduce && entry.writes.empty());
  if (!in_place) return;
  for (const ValueId id : entry.reads) {
    if (!id.valid()) continue;
    const TensorRole role = graph_.tensor(draft_.values[id].tensor).role;
    const bool kept = role != TensorRole::Parameter && role != TensorRole::OptimizerState;
    if (entry.what.kind == InstructionKind::Update && kept) continue;
    set(id);
    if (root(id) != id) set(root(id));
  }
}

RankDraft::Index RankDraft::add_at(const Place& place, const Entry& entry) {
  const auto index = static_cast<Index>(draft_.instructions.size());
  for (const ValueId id : entry.reads)
    if (id.valid()) need_writers(index, entry.what, id);
  note_writer(index, entry);
  places_.push_back(place);
  draft_.instructions.push_back(entry.what);
  draft_.reads.push_row(entry.reads);
  draft_.writes.push_row(entry.writes);
  draft_.members.push_row(entry.members);
  draft_.cuts.push_row(entry.cuts);
  return index;
}

RankDraft::Index RankDraft::add(const Entry& entry) { return add_at(next_place(), entry); }

std::vector<RankDraft::Index> RankDraft::in_order() const {
  std::vector<Index> order(places_.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto earlier = [&](Index a, Index b) { return places_[a] < places_[b]; };
  if (!std::ranges::is_sorted(order, earlier)) std::ranges::sort(order, earlier);
  return order;
}

RankProgram RankDraft::finish(int rank) && {
  RankProgram program;
  program.rank = rank;
  program.device = draft_.device;
  program.values = std::move(draft_.values);
  program.losses = std::move(draft_.losses);
  std::ranges::sort(program.losses);
  std::vector<Index> now(places_.size());
  for (const Index index : in_order()) {
    now[index] = static_cast<Index>(program.instructions.size());
    program.instructions.push_back(draft_.instructions[index]);
    program.reads.push_row(draft_.reads[index]);
    program.writes.push_row(draft_.writes[index]);
    program.members.push_row(draft_.members[index]);
    program.cuts.push_row(draft_.cuts[index]);
  }
  for (Need& need : needs_) need = {now[need.later], now[need.earlier]};
  order_streams(program, std::move(needs_), base_of_);
  return program;
}

RankDrafts::RankDrafts(const Program& program, DeviceId only) : only_(only) {
  const std::vector<DeviceId> working = working_devices(program);
  for (std::size_t d = 0; d < program.cluster->device_count(); ++d) {
    place_.push_back(drafts_.size());
    if (!std::ranges::binary_search(working, DeviceId(d))) continue;
    if (wanted(DeviceId(d)))
      drafts_.emplace_back(*program.graph, DeviceId(d));
    else if (drafts_.empty())
      ++first_rank_;
  }
}

std::vector<RankProgram> RankDrafts::finish() && {
  std::vector<RankProgram> ranks(drafts_.size());
  parallel_for(ranks.size(), 0, [&](std::size_t i) {
    RankDraft draft = std::move(drafts_[i]);  // whose memory is free when its program is there
    ranks[i] = std::move(draft).finish(first_rank_ + static_cast<int>(i));
  });
  return ranks;
}

}  // namespace strato
