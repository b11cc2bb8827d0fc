// The bubble of a pipeline: how long each of its stages waits for the others. A pure function of a
// timeline; deterministic; safe from any thread.
#pragma once

#include <vector>

#include "core/sim/timeline/spans.h"
#include "core/sim/timeline/timeline.h"

namespace strato {

// A device waits while it neither computes nor takes part in an exchange among devices of its own
// stage: it has nothing to do until another stage is done, or until the step ends. GPipe's and
// 1F1B's stages, p equal ones without communication to count, wait for (p - 1) / (m + p - 1) of a
// step of m micro-batches (Huang et al. 2019, 3; Narayanan et al. 2021, 2.2).
struct StageWait {
  std::vector<DeviceId> devices;  // ascending
  // Means over its devices: until the first task of a pass (the pipeline fills), from there until
  // the last one ends, and after that (it drains).
  Nanos before, between, after;
  Nanos all() const { return before + between + after; }
};

// What one device does in a step of several micro-batches.
struct StageWork {
  Spans occupied;                              // it does not wait: see StageWait
  Nanos first_pass = Nanos::max(), last_pass;  // its part of the passes begins, and has ended
};
// By device; of those that are in no stage nothing that means anything.
IdVector<DeviceId, StageWork> stage_work(const Timeline& timeline);

// The program's stages, along the pipeline, of those devices that compute in passes. Empty: the
// step has one micro-batch, or all of it is one stage.
std::vector<StageWait> stage_waits(const Timeline& timeline);

}  // namespace strato
