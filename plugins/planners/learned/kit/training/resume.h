// A training of several processes goes on after a pause, or after one of them was lost: each
// has a checkpoint of its own, and they need not be of the same step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "plugins/planners/learned/kit/training/peers.h"

namespace strato::learned {

// Each process has its own examples, so its own file; the first one's has the name that was given.
std::filesystem::path checkpoint_of(const std::filesystem::path& file, int rank);

// All processes have this in common between two steps.
struct SharedState {
  std::int64_t step = 0;
  double elapsed_seconds = 0;
  std::string network;  // its state, as bytes
};

// Called by all processes before the first step: they begin at the step of the one that is the
// furthest, with its weights; of several with the first one's. Returns what is to be taken over;
// nothing where all stand there already, or where it is the caller's own. Throws InputError when a
// process is lost.
std::optional<SharedState> agree_on_start(Peers& peers, const SharedState& own);

}  // namespace strato::learned
