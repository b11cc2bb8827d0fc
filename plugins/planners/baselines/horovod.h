// Data parallelism on all devices as Horovod does it (Sergeev & Del Balso 2018, "Horovod: fast and
// easy distributed deep learning in TensorFlow", sections 3 and 4): gradients go into fusion
// buckets in the order in which the backward pass makes them, and a full bucket is all-reduced by a
// ring while the backward pass goes on.
#pragma once

#include <memory>

#include "core/search/api/planner.h"

namespace strato {

std::unique_ptr<Planner> make_horovod();

}  // namespace strato
