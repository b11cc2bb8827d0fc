// Data parallelism on all devices, as Horovod and ZeRO do it.
#pragma once

#include "core/plugin/api/planner_function.h"

namespace strato {

struct HorovodSettings {
  Bytes bucket{std::int64_t{64} << 20};
  bool tune = false;

  OptionTable option_table();
};

// The planner "horovod" (Sergeev & Del Balso 2018, "Horovod: fast and easy distributed deep
// learning in TensorFlow", sections 3 and 4): gradients go into fusion buckets in the order in
// which the backward pass makes them, and a full bucket is all-reduced by a ring while the backward
// pass goes on.
PlanResult horovod(const PlanRequest& request, const HorovodSettings& settings);

struct ShardedDpSettings {
  Bytes smallest{std::int64_t{64} << 10}, bucket{std::int64_t{64} << 20};

  OptionTable option_table();
};

// The planner "sharded-dp" (Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory optimizations
// toward training trillion parameter models", sections 5.1 to 5.3): replicas on all devices, each
// of which updates and keeps its part of every parameter and of its optimizer state. Gradients are
// reduce-scattered as they are made; parameters are all-gathered at the start of the step and stay
// until the backward pass has read them. So it is stage 2, with the gather of stage 1 and 2 moved
// from the end of a step to the start of the next one; stage 3 would gather again for the backward
// pass.
//
// Small parameters stay whole: a collective of their own costs more than the memory is worth. Their
// gradients are all-reduced in fusion buckets.
PlanResult sharded_dp(const PlanRequest& request, const ShardedDpSettings& settings);

}  // namespace strato
