// What a strategy makes of its devices when micro-batches follow each other: stages, the chunks of
// the model that each of them has, and what of the forward and backward pass is in which (internal
// to core/program).
//
// Devices that compute an op together, each some samples or a copy, are of one stage. A chunk is
// what a stage computes between two visits of other stages: on D0, D1, D0, D1 there are two stages
// of two chunks each. The first visit of a backward pass is of the last chunk. Where chunks wait
// for each other within a pass their stages are one: what is left is a chain, or a graph without
// cycles, of chunks. Any strategy has them, not only those that were made as pipelines.
//
// Chunks have numbers along the pipeline: by the chunks that come before them in the forward pass,
// then by stage; stages by their first op.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/place/placement.h"
#include "core/program/value/tables.h"
#include "core/strategy/value/schedule_table.h"

namespace strato {

// Of the strategy that is placed. Immutable once made.
class Chunks {
 public:
  struct Stage {
    std::int32_t depth = 0;            // stages on the longest way to its first chunk
    std::vector<std::int32_t> chunks;  // ascending, in the order of its visits
  };
  struct Pass {                        // of one chunk
    std::vector<OpId> ops;             // ascending
    std::vector<std::size_t> follows;  // indices of passes that make what it reads
  };
  // `split_backward`: Weights is what no other pass waits for of the backward pass, found by
  // dataflow; else there is nothing in it. Refers to tables and placement.
  Chunks(const Tables& tables, const Placement& placement, bool split_backward);

  const std::vector<Stage>& stages() const { return stages_; }
  std::int32_t stage_of(DeviceId device) const { return stage_of_[device]; }  // -1: of none
  const IdVector<DeviceId, std::int32_t>& stages_of_devices() const { return stage_of_; }
  std::size_t count() const { return chunks_.size(); }
  std::int32_t stage_of_chunk(std::int32_t chunk) const { return chunks_[at(chunk)].stage; }
  static std::size_t pass_of(const ScheduleCell& cell) {
    return kPasses * at(cell.chunk) + static_cast<std::size_t>(cell.pass);
  }
  static ScheduleCell cell_of(std::size_t pass, std::int32_t micro) {
    return {static_cast<std::int32_t>(pass / kPasses), static_cast<PassKind>(pass % kPasses),
            micro};
  }
  const std::vector<Pass>& passes() const { return passes_; }  // by pass_of()
  // What runs once a step, before and after all of them.
  std::span<const OpId> before() const { return before_; }
  std::span<const OpId> after() const { return after_; }

 private:
  static constexpr std::size_t kPasses = 3;  // PassKind
  struct Chunk {
    std::int32_t stage = 0;
    std::int32_t visit = 0;  // among those of its stage
  };
  void find_stages();
  void take_one_each();
  void find_visits();
  void find_passes();
  std::vector<std::size_t> in_order() const;
  void join_cycle();
  void number_along();
  void split_backward();
  bool is_backward(OpId op) const { return tables_.graph->op(op).phase == Phase::Backward; }
  std::int32_t stage_of(OpId op) const { return stage_of_[placement_.layout(op).shards[0].device]; }

  const Tables& tables_;
  const Placement& placement_;
  std::vector<OpId> before_, after_;
  std::vector<OpId> repeated_;  // in the order of emission
  IdVector<DeviceId, std::int32_t> stage_of_;
  IdVector<OpId, std::size_t> pass_of_;  // of those that are repeated
  std::vector<Stage> stages_;
  std::vector<Chunk> chunks_;
  std::vector<Pass> passes_;
};

}  // namespace strato
