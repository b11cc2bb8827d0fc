// One sentence about a step of a replay: where selection went and why, what was expanded and
// evaluated, and how the back-up changed N and Q. Pure function; HTML.
#pragma once

#include <QString>

#include "core/search/mcts/tree_replay.h"
#include "core/search/tree/search_tree.h"
#include "views/search/search_tree_model.h"

namespace strato {

// `before` stands one step before `after`.
QString step_story(const TreeReplay& before, const TreeReplay& after, const SearchTreeModel& names,
                   const TreeSearchOptions& options);

// Of the rows that selection compares: the one with the largest U; ties to the first.
std::size_t best_row(const std::vector<PuctRow>& rows);

}  // namespace strato
