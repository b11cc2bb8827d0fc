// What the window calls what is open, and the states of a run.
#pragma once

#include <QString>

#include "core/store/workspace.h"

namespace strato {

class Session;

// "vit_b_16 · batch 32 · f16" of the open model: names alone do not tell models apart. Empty
// without one.
QString model_words(const Session& session);

QString run_state_text(RunState state);  // "running"

}  // namespace strato
