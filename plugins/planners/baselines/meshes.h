// The planner "meshes": how large models are trained, by local search over points (mesh_space.h).
// From data parallelism, from sharded data parallelism (FSDP), and from Megatron-LM's habit of as
// many columns as a machine has devices, the search goes to the best neighbour as long as there is
// a better one. Plans that do not fit are compared by what they lack, so that it leads to some that
// do; where it does not, what waits in the memory of hosts is searched, too.
#pragma once

#include "core/search/api/option_table.h"
#include "core/search/api/planner.h"

namespace strato::meshes {

struct Settings {
  std::int64_t most = 200;
  bool whole_layers = true;  // pipeline::Settings; where the model has layers
  bool zero_bubble = false;  // Space::Reach, from the best of what is found without
  bool overlap = false;      // Space::Habits

  OptionTable option_table();
};

// Keeps to the micro-batches that any planner is asked for, and out of roles that constraints
// forbid to every op. Models that cannot be computed in micro-batches are not.
PlanResult plan(const PlanRequest& request, const Settings& settings);

}  // namespace strato::meshes
