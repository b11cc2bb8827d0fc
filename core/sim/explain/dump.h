// A timeline as text for independent checkers: the command line's --dump-tasks.
#pragma once

#include <string>

#include "core/sim/timeline/timeline.h"

namespace strato {

// One JSON object a line in start order, a first line with residents.
std::string dump_tasks(const Timeline& timeline);

}  // namespace strato
