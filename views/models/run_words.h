// What the window calls the states of a run.
#pragma once

#include <QString>

#include "core/store/workspace.h"

namespace strato {

QString run_state_text(RunState state);  // "running"

}  // namespace strato
