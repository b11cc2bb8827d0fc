// Which kernel this process runs under.
#pragma once

#include <string>

namespace strato::worker {

// The same for all processes under one, which share its processors and its clock; empty: not known.
std::string kernel_id();

}  // namespace strato::worker
