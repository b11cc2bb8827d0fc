// What a search by trials says: a line for each trial, and what they came to.
#pragma once

#include <string>

#include "core/io/json.h"
#include "core/launch/measured/tune.h"

namespace strato::cli {

std::string trial_text(std::size_t number, const Trial& trial);
std::string trials_text(const TrialsResult& result, double wall_seconds);
Json trials_json(const TrialsResult& result, double wall_seconds);

}  // namespace strato::cli
