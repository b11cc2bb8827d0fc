// What a program that was killed leaves in a workspace, found again when that is opened: what was
// shown, and runs that nobody goes on with.
#pragma once

#include <optional>

#include "core/store/workspace.h"

namespace strato {

// Kept while one works: the strategy, and the run whose tree and history are beside it. Cheap where
// it is the same as before.
void keep_shown(Workspace& workspace, StrategyRow strategy, std::optional<RunRow> run = {});

struct LastShown {
  StrategyRow strategy = 0;   // 0: the run's best
  std::optional<RunRow> run;  // that it, or what it was edited from, was found by
  bool edited = false;        // it is not what that run found
};
// Nothing where that is unknown, no longer there, or damaged.
std::optional<LastShown> last_shown(const Workspace& workspace);

// Where one goes on in a workspace that is opened: as above, else its latest run that has found
// something, else its latest run, else its latest strategy.
std::optional<LastShown> latest_to_show(const Workspace& workspace);

// Runs that are said to be under way, and are not: their program ended without a word. They are
// stopped, with what they had found.
void end_orphaned_runs(Workspace& workspace);

}  // namespace strato
