// What a search of AutoDist says about itself: its curves in numbers (AutoDist Fig. 4 and 9).
#pragma once

#include <string>
#include <vector>

#include "core/search/planner.h"
#include "plugins/planners/autodist/search.h"

namespace strato::autodist {

// Part of the trials (without builders) that were better than the best builder; nothing: there were
// no trials.
std::optional<double> hit_rate(std::span<const Trial> trials);

std::string note_of(const Search& search);
std::vector<PlanResult::Fact> facts_of(const Search& search, const SyncTask& task);

}  // namespace strato::autodist
