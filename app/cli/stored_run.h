// Runs of a workspace: finding them, and making their problem and tree again.
#pragma once

#include <memory>
#include <string>

#include "app/cli/context.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"

namespace CLI {
class App;
}

namespace strato::cli {

// Looking must not make a file where there is none. A reader that may write still opens for
// writing: only then does SQLite take its log away when it leaves.
Workspace open_existing(const std::string& file, bool must_write);

StoredRun find_run(const Workspace& workspace, RunRow id);  // throws InputError

struct StoredProblem {
  LoadedModel model;
  Problem problem;
};
// As it was when the run was made, with its costs; `tree`: in the groups that its tree is about, or
// null. Throws InputError when a file of its costs is gone or has changed.
StoredProblem stored_problem(const Workspace& workspace, const StoredRun& run,
                             const SearchTree* tree = nullptr);

// The run's options as they are kept: the planner's, and where the model's costs came from.
std::string options_text(const PlannerOptions& options, const LoadedModel& model);
PlannerOptions options_from(const Workspace& workspace, const StoredRun& run);
std::string place_of_options(const Workspace& workspace, const StoredRun& run);  // in messages

// Null when the run has none. Throws InputError when it is damaged.
std::shared_ptr<const SearchTree> find_tree(const Workspace& workspace, const StoredRun& run);
// The same, but a run without a tree is an InputError.
std::shared_ptr<const SearchTree> stored_tree(const Workspace& workspace, const StoredRun& run);

}  // namespace strato::cli
