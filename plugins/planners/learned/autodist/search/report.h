// A search of AutoDist reports about itself: its curves in numbers (AutoDist Fig. 4 and 9).
#pragma once

#include <string>
#include <vector>

#include "core/search/api/planner.h"
#include "plugins/planners/learned/autodist/search/search.h"

namespace strato::autodist {

// Part of the trials (of rounds) that were better than the best builder; nothing: there were
// no trials.
std::optional<double> hit_rate(std::span<const PlanTrial> trials);

// Histories have a best builder.
std::string note_of(const SearchHistory& history);
std::vector<PlanResult::Fact> facts_of(const SearchHistory& history, const SyncTask& task);
// Over trials: how many of them beat the best builder, and by how much the best did (Fig. 9). And
// of each fifth of the trials ("1/5" to "5/5") how well they were ranked beforehand, by quarters of
// all trials from slow to fast (Fig. 4; the paper asks a simulator that has learned from the phase
// about trials that it never sees). A point without a pair to rank is left out, and a curve without
// points.
std::vector<PlanResult::Curve> curves_of(const SearchHistory& history);

}  // namespace strato::autodist
