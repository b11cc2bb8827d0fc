// Translates a program's calls to ops of the catalogue, with the shapes that the file has.
#pragma once

#include <string>

#include "core/graph/value/graph.h"
#include "plugins/importers/exported_program/program/binding.h"
#include "plugins/importers/exported_program/program/program.h"

namespace strato::exported_program_import {

// Keeps what the program's results depend on. Buffers and constants of the program are constants
// without contents; a graph that is run in another mode (without gradients, in another precision)
// is part of the one that runs it. Ops of ATen that the catalogue has no counterpart for are
// planned as elementwise work. Throws InputError: for a call that does not fit its op, a branch or
// a loop that data decide, and as GraphBuilder does.
Graph translate(const Program& program, const Binding& binding, const std::string& name);

}  // namespace strato::exported_program_import
