// A tournament in words and in JSON.
#pragma once

#include <string>

#include "core/io/json.h"
#include "core/search/run/tournament.h"

namespace strato::cli {

// One problem: a row for each planner. Several: what is best on each problem, with the step time of
// every planner while they are few; then the planners by rank, with their rank on each problem.
std::string compare_text(const TournamentSetup& setup, const Tournament& tournament);

// One problem: {model, cluster, ..., "best", "planners": [...]}; several: {"problems": [such],
// "ranking": [...]}. A planner that was not reached before a Ctrl-C has no entry.
Json compare_json(const TournamentSetup& setup, const Tournament& tournament, double wall_seconds);

}  // namespace strato::cli
