// How the micro-batches of a step follow each other: the order of cells, of what a stage does of
// one chunk and micro-batch without turning to another (internal to core/program).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/cells/cell_order.h"
#include "core/program/lower/chunks.h"
#include "core/strategy/value/strategy.h"

namespace strato {

// Of the strategy that is placed. Immutable once made.
class Pipeline {
 public:
  // Refers to all three.
  Pipeline(const Tables& tables, const Placement& placement, const MicroBatches& micro_batches);

  const Chunks& chunks() const { return chunks_; }
  // All cells, each after those that it waits for: those of its stage that the schedule has before
  // it, and what makes its inputs. A schedule with a name always goes on: where it could not, a
  // stage takes that of its next cells which can. One by hand is refused then: throws InputError
  // with the cells that wait for each other, and where it is not of these stages and chunks.
  std::vector<ScheduleCell> cells() const;
  std::span<const OpId> ops(const ScheduleCell& cell) const {
    return chunks_.passes()[Chunks::pass_of(cell)].ops;
  }

 private:
  using Sequences = std::vector<std::vector<ScheduleCell>>;  // by stage
  class Walk;
  bool is_in_v() const;
  Sequences sequences() const;
  void check_rows() const;

  const MicroBatches& micro_batches_;
  const Chunks chunks_;
};

}  // namespace strato
