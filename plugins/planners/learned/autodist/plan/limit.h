// The speed that exact data parallelism can have on a cluster at best, whatever is chosen for each
// variable: how much of a search's goal its problem leaves.
#pragma once

#include "plugins/planners/learned/autodist/plan/sync_task.h"

namespace strato::autodist {

// A lower bound of the step time with the task's replicas, for gradients that are sent as they are
// (sparse ones do not count). To sum a gradient that n devices hold parts of and to have the new
// value on all of them takes n - 1 messages of its size to the sum and n - 1 back, wherever the sum
// is made; so 2 (n - 1) S bytes enter the n devices' ports, and the same holds for machines and
// their ways to the network. None of them moves before the first gradient is made, for which all
// that it depends on has run on a device; where variables can be kept in parts that holds for half
// of them, since values may be gathered from the start of the step on.
Nanos data_parallel_limit(const SyncTask& task);

}  // namespace strato::autodist
