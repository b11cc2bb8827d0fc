// One rank's program while it is built (internal to core/program): values, instructions in the
// order of the tasks, and in the end what waits for what and where values are released.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/program/rank/rank_program.h"

namespace strato {

struct Need {
  std::uint32_t later, earlier;  // instructions: the one cannot start before the other ends
  friend auto operator<=>(const Need&, const Need&) = default;
};

class RankDraft {
 public:
  using Index = std::uint32_t;  // of an instruction of the draft; its place may still change

  RankDraft(const Graph& graph, DeviceId device) : graph_(graph), device_(device) {}
  DeviceId device() const { return device_; }
  const Value& value(ValueId id) const { return values_[id].what; }

  // A value that the next instruction writes.
  ValueId make(TensorId tensor, const Piece& piece, Encoding encoding = Encoding::None,
               std::int32_t slots = 0);
  // The same value for the same piece.
  ValueId resident(TensorId tensor, const Piece& piece);
  // What a view op makes of `base`; the same value for the same base. `reader`: who needs it. What
  // communication needs is made as soon as its base is there, so that it waits for nothing else.
  ValueId view(OpId op, TensorId tensor, const Piece& piece, ValueId base,
               std::span<const ValueId> inputs, const Instruction& reader);
  // A collective changed it in place: views made so far are of what it was.
  void forget_views(ValueId base);

  struct Parts {
    Instruction what;
    std::span<const ValueId> reads = {}, writes = {};
    std::span<const DeviceId> members = {};
    std::span<const std::int32_t> cuts = {};
  };
  // The instruction waits for the last writers of what it reads.
  Index add(const Parts& parts);
  // Both are told apart later from what the streams' order sees to.
  void need(Index later, Index earlier) { needs_.push_back({later, earlier}); }

  RankProgram finish(int rank) &&;

 private:
  struct Known {
    Value what;
    ValueId base;  // of a view: the value whose memory it shares, itself no view
    Index writer;  // the last one of all of it; kNone: there from the start
  };
  // Since then: the last one of this slice of a parameter that is whole there.
  struct SliceWriter {
    Piece piece;
    Index index;
  };
  struct View {
    OpId op;
    ValueId base;
    std::vector<ValueId> made;
  };
  struct Place {  // in the order of execution: right after an instruction, or its own
    std::int64_t anchor = 0, then = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  static constexpr Index kNone = ~Index{0};

  ValueId root(ValueId id) const { return values_[id].base.valid() ? values_[id].base : id; }
  ValueId add_value(const Value& value);
  Index add_at(const Place& place, const Parts& parts);
  Place next_place() const { return {static_cast<std::int64_t>(instructions_.size()), 0}; }
  Place place_after(Index writer) const;
  // Just its own slice of a parameter, or of its state, that is whole there.
  bool touches_slice(const Instruction& what, ValueId id) const;
  void need_writers(Index reader, const Instruction& what, ValueId value);
  void set_writer(Index index, const Instruction& what, ValueId id);
  std::vector<ValueId> add_view(OpId op, const Piece& piece, ValueId base,
                                std::span<const ValueId> inputs, const Instruction& reader);
  void note_writer(Index index, const Parts& parts);
  std::vector<Index> in_order() const;

  const Graph& graph_;
  DeviceId device_;
  IdVector<ValueId, Known> values_;
  std::unordered_map<TensorId, std::vector<ValueId>> residents_;
  std::unordered_map<ValueId, std::vector<View>> views_;  // by root
  std::unordered_map<ValueId, std::vector<SliceWriter>> slice_writers_;
  std::vector<Instruction> instructions_;
  std::vector<Place> places_;
  Rows<ValueId> reads_, writes_;
  Rows<DeviceId> members_;
  Rows<std::int32_t> cuts_;
  std::vector<Need> needs_;
};

// Fills waits and releases of a program whose other rows are there. base_of: by value, whose memory
// it shares, or invalid.
void order_streams(RankProgram& program, std::vector<Need> needs,
                   const IdVector<ValueId, ValueId>& base_of);

}  // namespace strato
