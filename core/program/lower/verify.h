// The verifier: what must hold for any program, checked without knowing how it was made.
#pragma once

#include "core/program/value/program.h"

namespace strato {

// Structure (ids in range, dependencies acyclic and ascending, every read buffer written or
// resident before, resources match kinds, transfers start and end where they say, byte counts
// positive), and then verify_parts(). Throws InvariantError. A program that lacks folded devices is
// not for it.
void verify(const Program& program);

}  // namespace strato
