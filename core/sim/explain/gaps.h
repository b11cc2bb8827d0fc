// Says what each device waits for. Pure functions of a timeline; deterministic; safe from any
// thread.
#pragma once

#include <vector>

#include "core/sim/explain/path_pieces.h"

namespace strato {

// A stretch in which a compute stream runs nothing, and why the task after it did not start sooner:
// the reason on the path to that task, as path_pieces() has it. An idle stretch is cut where the
// reason changes, so that gaps and busy time add up to the step time.
struct Gap {
  Nanos begin, end;
  Reason reason;  // Transfer, Collective, LinkBusy, Straggler; Compute, Reshuffle, DeviceBusy: of
                  // another device; of the last gap (nothing follows): Straggler
  TaskId next;    // invalid: none follows
  TaskId cause;   // what held it up longest; of the last gap: the step's last task
};
std::vector<Gap> gaps(const Timeline& timeline, DeviceId device);
IdVector<DeviceId, std::vector<Gap>> gaps(
    const Timeline& timeline);  // of all devices, much cheaper

}  // namespace strato
