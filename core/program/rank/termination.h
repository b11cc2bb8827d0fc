// Do ranks that block on every instruction end? Pure; safe from any thread.
#pragma once

#include <string>

#include "core/program/rank/rank_program.h"

namespace strato {

// Proves that ranks that execute their streams in order, each instruction blocking its stream until
// it is done, all end: sends meet receives of the same tensor and size in the same order for each
// pair of ranks, collectives have the same members and order everywhere, and no instruction waits
// for itself through others. Throws InputError (file: `name`) naming the instructions of the cycle,
// or what has no counterpart.
void check_termination(const RankPrograms& programs, const std::string& name);

}  // namespace strato
