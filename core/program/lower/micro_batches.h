// Lowers a step in several micro-batches: cell by cell of the pipeline, with gradients added up
// (internal to core/program).
#pragma once

#include <optional>

#include "core/program/cells/repeated_cells.h"
#include "core/program/lower/op_lowering.h"
#include "core/program/lower/pipeline.h"
#include "core/program/lower/recomputation.h"

namespace strato {

// Of one lowering, which it refers to.
class MicroBatchLowering {
 public:
  MicroBatchLowering(OpLowering& ops, Recomputation& all) : ops_(ops), all_(all) {}
  // All ops but the late ones (Tables::late), of the strategy that is placed. Throws InputError as
  // Pipeline does.
  // `into`: the program that is lowered, which is told of which stage each device is.
  // `repeat`: what is the same for each micro-batch is lowered for the first two. false: that is
  // not so, and all is to be lowered once more without it.
  bool lower(const MicroBatches& micro_batches, Program& into, bool repeat);

 private:
  void enter(std::int32_t micro);
  bool lower_or_repeat(const Pipeline& pipeline, const ScheduleCell& cell);
  void lower_cell(const Pipeline& pipeline, const ScheduleCell& cell);
  void accumulate(OpId op, TensorId sum, std::int32_t micro);
  PartId of_all(const Instance& term);

  OpLowering& ops_;
  Recomputation& all_;
  std::optional<RepeatedCells> repeated_;
};

}  // namespace strato
