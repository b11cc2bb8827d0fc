// One search from the command line: planner, observer, Ctrl-C, workspace.
#pragma once

#include <optional>
#include <string>

#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/report.h"
#include "core/search/tree/search_tree.h"

namespace strato::cli {

struct SearchJob {
  const LoadedModel* model = nullptr;
  const Problem* problem = nullptr;
  std::string planner;
  PlannerOptions options;
  Workspace* workspace = nullptr;          // null: nothing is stored
  const StoredRun* resume = nullptr;       // a run of `workspace` to go on with
  std::shared_ptr<const SearchTree> tree;  // of `resume`; null: from the start
  bool forget_focus = false;               // the tree is stored without its focus
  Interrupt* interrupt = nullptr;          // stops the search, with the best so far
};

struct SearchOutcome {
  PlanResult result;
  Verdict verdict;
  std::optional<RunRow> run;
  std::shared_ptr<const Constraints> constraints;  // that it keeps to, or null
};

// Throws InputError.
SearchOutcome search(const SearchJob& job);

// The plan file for a result.
void write_plan_file(const std::filesystem::path& file, const LoadedModel& model,
                     const SearchOutcome& outcome);

}  // namespace strato::cli
