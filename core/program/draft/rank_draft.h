// The programs of ranks while they are built (internal to core/program): values, instructions in
// the order of the tasks, and in the end what waits for what and where values are released.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/program/rank/rank_program.h"

namespace strato {

// Which instruction of a rank wrote a value last. Slices of a parameter that is whole on the
// device are told apart, so that what happens to one slice does not wait for another.
class LastWriters {
 public:
  using Index = std::uint32_t;               // of an instruction of a draft
  static constexpr Index kNone = ~Index{0};  // it was there from the start

  void add_value() { whole_.push_back(kNone); }
  // The last one of all of the value; slices may have been written since.
  Index of(ValueId value) const { return whole_[value]; }
  bool has_slices(ValueId value) const { return slices_.contains(value); }
  // Visits those that have to end before the value is used; of `slice`: before just that slice is.
  template <class Visit>
  void visit_before(ValueId value, const Part* slice, const Visit& visit) const {
    if (whole_[value] != kNone) visit(whole_[value]);
    if (slices_.empty()) return;
    const auto slices = slices_.find(value);
    if (slices == slices_.end()) return;
    for (const SliceWriter& of : slices->second)
      if (!slice || overlap(of.part, *slice)) visit(of.writer);
  }
  void set(ValueId value, const Part* slice, Index writer);

 private:
  struct SliceWriter {
    Part part;
    Index writer;
  };
  IdVector<ValueId, Index> whole_;
  std::unordered_map<ValueId, std::vector<SliceWriter>> slices_;  // since then
};

struct Need {
  LastWriters::Index later, earlier;  // the one cannot start before the other ends
  friend auto operator<=>(const Need&, const Need&) = default;
};

class RankDraft {
 public:
  using Index = LastWriters::Index;  // the place of an instruction may still change

  RankDraft(const Graph& graph, DeviceId device) : graph_(graph) { draft_.device = device; }

  // A value that the next instruction writes.
  ValueId make(const Value& value);
  // The same value for the same part.
  ValueId resident(TensorId tensor, const Part& part, bool on_host = false);
  struct View {
    OpId op;          // that makes no task
    TensorId output;  // of it
    Part part;
    ValueId base;  // its first input
    std::span<const ValueId> inputs;
    TaskId reader;  // the task that needs it, on this stream
    Stream stream;
  };
  // The same value for the same op and base. A view that communication needs is made as soon as its
  // base is there, so that it waits for nothing else.
  ValueId view(const View& view);
  // A collective changed it in place: views made so far are of what it was.
  void forget_views(ValueId base);

  struct Entry {
    Instruction what;
    std::span<const ValueId> reads = {}, writes = {};
    std::span<const DeviceId> members = {};
    std::span<const std::int32_t> cuts = {};
  };
  // The instruction waits for the last writers of what it reads.
  Index add(const Entry& entry);
  // The one has to wait for the other, unless the order of the streams sees to that.
  void need(Index later, Index earlier) { needs_.push_back({later, earlier}); }

  // The value is a part of the loss that no rank before this one computes.
  void report_loss(ValueId value) { draft_.losses.push_back(value); }

  RankProgram finish(int rank) &&;

 private:
  struct MadeView {
    OpId op;
    ValueId base;
    std::vector<ValueId> outputs;
  };
  struct Place {  // in the order of execution: right after an instruction, or its own
    std::int64_t anchor = 0, then = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  ValueId root(ValueId id) const { return base_of_[id].valid() ? base_of_[id] : id; }
  Index add_at(const Place& place, const Entry& entry);
  Place next_place() const { return {std::ssize(draft_.instructions), 0}; }
  Place place_after(Index writer) const;
  // The slice of a parameter, or of its state, that is whole there and of which an instruction uses
  // just that; null: it uses all of the value.
  const Part* used_slice(const Instruction& what, ValueId id) const;
  void need_writers(Index reader, const Instruction& what, ValueId value);
  std::vector<ValueId> add_view(const View& view);
  void note_writer(Index index, const Entry& entry);
  std::vector<Index> in_order() const;

  const Graph& graph_;
  RankProgram draft_;  // in the order in which it was added; without waits and releases
  // By value: of a view the value whose memory it shares, itself no view.
  IdVector<ValueId, ValueId> base_of_;
  std::unordered_map<TensorId, std::vector<ValueId>> residents_;
  std::unordered_map<ValueId, std::vector<MadeView>> views_;  // by root
  LastWriters writers_;
  std::vector<Place> places_;  // by instruction
  std::vector<Need> needs_;
};

// Fills waits and releases of a program whose other rows are there. base_of: by value, the value
// whose memory it shares, or invalid.
void order_streams(RankProgram& program, std::vector<Need> needs,
                   const IdVector<ValueId, ValueId>& base_of);

// The drafts of all ranks of a program, or of one device's alone. A rank is a device that has a
// task; ranks ascend by device.
class RankDrafts {
 public:
  // `only`: the device whose program is wanted; invalid: all of them.
  RankDrafts(const Program& program, DeviceId only);

  bool wanted(DeviceId device) const { return !only_.valid() || device == only_; }
  // Of a wanted device with a task.
  RankDraft& of(DeviceId device) { return drafts_[place_[device.index()]]; }
  std::vector<RankProgram> finish() &&;

 private:
  const DeviceId only_;
  std::vector<std::size_t> place_;  // by device: in drafts_
  std::vector<RankDraft> drafts_;
  int first_rank_ = 0;  // of the first draft
};

}  // namespace strato
