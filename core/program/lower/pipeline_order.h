// The order in which a stage computes the cells of a step, schedule by schedule (internal to
// core/program). Closed forms of the place of a stage, which look at no op and no cost.
//
// A stage has chunks (pipeline.h), counted from 0 along the pipeline. With p stages, v chunks each
// and passes of the same length f (forward), b + w (backward), without transfers, a stage waits
// in all:
//   gpipe, 1f1b, interleaved  (p - 1) (f + b + w)    of m, or a multiple of p, micro-batches
//   zb-h1                     (p - 1) (f + b - w)    where w is the shortest
// which with v chunks is a v-th of what it is with one, whose passes are v times as long. Chunks
// under way, at most, at stage s (where that is not more than m v):
//   gpipe        m v                          all
//   1f1b         p - s + (v - 1) p            PipeDream-Flush's p - s for v = 1; for more it is
//                                             Megatron-LM's order with the fewest under way that
//                                             keep all stages busy when transfers take no time
//   interleaved  2 (p - s) - 1 + (v - 1) p    Megatron-LM's (Narayanan et al. 2021, section 2.2,
//                                             and forward_backward_pipelining_with_interleaving of
//                                             its schedules.py); with v = 1 as 1f1b
//   zb-h1        p + (v - 1) p                (Qi et al. 2023, section 2.1.1: 1F1B whose last W of
//                                             a stage is s cells late) as 1F1B's first stage
//   zb-v         2 p                          (Qi et al. 2024, section 4, in the closed form of
//                                             PyTorch's ScheduleZBVZeroBubble)
//   dualpipe-v   2 p + 2                      (DeepSeek-AI 2024, DeepSeek-V3, section 3.2.1, cut in
//                                             half, and github.com/deepseek-ai/DualPipe: its eight
//                                             steps, one pass after the other)
// zb-v and dualpipe-v are for two chunks a stage in the shape of a V: stage 0 has the first and the
// last. The two of the deepest stage are one visit, hence one chunk. Elsewhere they are zb-h1.
#pragma once

#include <cstdint>
#include <vector>

#include "core/strategy/value/strategy.h"

namespace strato {

// Of a stage among the others.
struct StagePlace {
  std::int32_t stages = 1;  // of the longest way from stage to stage
  std::int32_t depth = 0;   // stages before it on it
  std::int32_t chunks = 1;  // its own
  bool is_in_v = false;     // are all stages one V?
};

// Are backward passes in two cells, B and W?
bool splits_backward(const MicroBatches& micro_batches);

// All cells of a stage, `chunk` counted among its own. Not of ByHand; of AsReady an order to emit
// tasks in. Groups of p micro-batches are what alternates between chunks: where p does not divide
// them the last group is smaller, and stages wait longer.
std::vector<ScheduleCell> stage_order(const MicroBatches& micro_batches, const StagePlace& place);

}  // namespace strato
