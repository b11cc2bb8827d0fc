// The planner "meshes": how large models are trained, by local search. A point is a number of
// pipeline stages, of columns (tensor parallelism), of rows that have experts among them, of
// micro-batches and of chunks; what rows keep parts of (ZeRO's stages); and what is computed again.
// From data parallelism, from sharded data parallelism (FSDP), and from Megatron-LM's habit of as
// many columns as a machine has devices, the search goes to the best neighbour as long as there is
// a better one. Plans that do not fit are compared by what they lack, so that it leads to some that
// do.
#pragma once

#include "core/search/api/option_table.h"
#include "core/search/api/planner.h"

namespace strato::meshes {

struct Settings {
  std::int64_t most = 200;
  bool whole_layers = true;  // pipeline::Settings; where the model has layers

  OptionTable option_table();
};

// Keeps to the micro-batches that any planner is asked for, and out of roles that constraints
// forbid to every op. Models that cannot be computed in micro-batches are not.
PlanResult plan(const PlanRequest& request, const Settings& settings);

}  // namespace strato::meshes
