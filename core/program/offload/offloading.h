// Moves what waits into the memory of hosts (Strategy::offloaded): a pass over a lowered program,
// whose residents are listed (internal to core/program).
//
// - What tasks of the forward pass make of an offloaded op's outputs on a device, and tasks of the
//   backward pass read there, is copied out when it is made (Offload), and brought back before the
//   first of these reads it (Fetch). Its readers in the forward pass read what is on the device,
//   which is free when they and the copy have ended. So it is with what exchanges brought to other
//   devices: each keeps its own on its own host.
// - What is brought ahead is what one task reads: a Fetch waits until the device has computed what
//   the last but one was for; the first two wait for the last but one task before the first reader.
// - The optimizer state of an offloaded update rests on the host. It is brought when all that the
//   update waits for is there, and copied back after it.
//
// The copies occupy the way between the device and its host, in their direction, and no stream.
#pragma once

#include <span>

#include "core/program/place/emitter.h"
#include "core/program/value/program.h"
#include "core/program/value/tables.h"

namespace strato {

// `parts`: of this program. Throws InputError where an op is of the backward pass, or a device that
// needs it has no host memory or no way there.
void offload(Program& program, PartIndex& parts, const Tables& tables,
             std::span<const OpId> offloaded);

}  // namespace strato
