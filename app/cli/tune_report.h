// What `tune` tells: a line for each round, and what it came to.
#pragma once

#include <string>

#include "core/io/json.h"
#include "core/launch/measured/tune.h"

namespace strato::cli {

std::string round_text(const TuneRound& round);
// Start, best and gain, and why it ended.
std::string tune_text(const TuneResult& result, double wall_seconds);
Json tune_json(const TuneResult& result, double wall_seconds);

}  // namespace strato::cli
