// The verifier: what must hold for any program, checked without knowing how it was made.
#pragma once

#include "core/program/value/program.h"

namespace strato {

// Structure (ids in range, dependencies acyclic and ascending, every read buffer written or
// resident before, resources match kinds, transfers start and end where they say, byte counts
// positive), and then verify_parts(). Throws InvariantError. A program that lacks folded devices is
// not for it.
void verify(const Program& program);

// Follows what every buffer holds, from task to task: the proof that a program computes what its
// graph says, by the graph's rules alone (verify_parts.cpp).
// Every op reads the parts of its inputs that its part needs; every task writes the part that its
// reads make up: what is cut out is there, what is put together or summed up has no gap and nothing
// twice, what is sent arrives as it is. For programs of sound structure. Throws InvariantError that
// names the task and the tensor.
void verify_parts(const Program& program);

}  // namespace strato
