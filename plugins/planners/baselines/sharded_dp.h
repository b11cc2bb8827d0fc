// Sharded data parallelism (Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory optimizations
// toward training trillion parameter models", sections 5.1 to 5.3): replicas on all devices, each
// of which updates and keeps its part of every parameter and of its optimizer state. Gradients are
// reduce-scattered as they are made; parameters are all-gathered at the start of the step and stay
// until the backward pass has read them. So it is stage 2, with the gather of stage 1 and 2 moved
// from the end of a step to the start of the next one; stage 3 would gather again for the backward
// pass.
//
// Small parameters stay whole: a collective of their own costs more than the memory is worth. Their
// gradients are all-reduced in fusion buckets.
#pragma once

#include <memory>

#include "core/search/api/planner.h"

namespace strato {

std::unique_ptr<Planner> make_sharded_dp();

}  // namespace strato
