// Follows what every buffer holds, from task to task: the proof that a program computes what its
// graph says, by the graph's rules alone.
#pragma once

#include "core/program/value/program.h"

namespace strato {

// Every op reads the parts of its inputs that its part needs; every task writes the part that its
// reads make up: what is cut out is there, what is put together or summed up has no gap and nothing
// twice, what is sent arrives as it is. For programs of sound structure. Throws InvariantError that
// names the task and the tensor.
void verify_parts(const Program& program);

}  // namespace strato
