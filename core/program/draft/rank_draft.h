// One rank's program while it is built (internal to core/program): values, instructions in the
// order of the tasks, and in the end what waits for what and where values are released.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/program/draft/last_writers.h"
#include "core/program/draft/stream_order.h"
#include "core/program/rank/rank_program.h"

namespace strato {

class RankDraft {
 public:
  using Index = LastWriters::Index;  // the place of an instruction may still change

  RankDraft(const Graph& graph, DeviceId device) : graph_(graph), device_(device) {}

  // A value that the next instruction writes.
  ValueId make(const Value& value);
  // The same value for the same piece.
  ValueId resident(TensorId tensor, const Piece& piece);
  struct View {
    OpId op;          // that makes no task
    TensorId output;  // of it
    Piece piece;
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

  RankProgram finish(int rank) &&;

 private:
  struct Known {
    Value what;
    ValueId base;  // of a view: the value whose memory it shares, itself no view
  };
  struct MadeView {
    OpId op;
    ValueId base;
    std::vector<ValueId> outputs;
  };
  struct Place {  // in the order of execution: right after an instruction, or its own
    std::int64_t anchor = 0, then = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  ValueId root(ValueId id) const { return values_[id].base.valid() ? values_[id].base : id; }
  Index add_at(const Place& place, const Entry& entry);
  Place next_place() const { return {static_cast<std::int64_t>(instructions_.size()), 0}; }
  Place place_after(Index writer) const;
  // The slice of a parameter, or of its state, that is whole there and of which an instruction uses
  // just that; null: it uses all of the value.
  const Piece* used_slice(const Instruction& what, ValueId id) const;
  void need_writers(Index reader, const Instruction& what, ValueId value);
  std::vector<ValueId> add_view(const View& view);
  void note_writer(Index index, const Entry& entry);
  std::vector<Index> in_order() const;

  const Graph& graph_;
  DeviceId device_;
  IdVector<ValueId, Known> values_;
  std::unordered_map<TensorId, std::vector<ValueId>> residents_;
  std::unordered_map<ValueId, std::vector<MadeView>> views_;  // by root
  LastWriters writers_;
  std::vector<Instruction> instructions_;
  std::vector<Place> places_;
  Rows<ValueId> reads_, writes_;
  Rows<DeviceId> members_;
  Rows<std::int32_t> cuts_;
  std::vector<Need> needs_;
};

}  // namespace strato
