// Going on with a stored run: `runs resume`, `tree continue`, `tree push`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/command.h"
#include "app/cli/stored_run.h"
#include "core/search/tree/search_tree.h"

namespace strato::cli {

struct ContinueOptions {
  std::int64_t iterations = 800;
  std::optional<std::string> budget;
  int threads = 0;
  bool afresh = false;  // leave the stored tree, which may be damaged, and begin a new one
  std::string output;   // plan file; empty: none

  void declare(CLI::App& command);
};

// What to go on with; all of it must outlive the search.
struct Continuation {  // the caller holds the run's lock
  Workspace& workspace;
  const StoredRun& run;
  const StoredProblem& stored;
  std::shared_ptr<const SearchTree> tree;  // null: from the start
  bool forget_focus = false;               // it holds for this search only
};

class Interrupt;

// Searches, stores, writes the plan file and prints the verdict. Ctrl-C stops it with all stored.
int continue_run(const Continuation& continuation, const ContinueOptions& options,
                 Interrupt& interrupt, const Command& command);

// The whole of `runs resume` and `tree continue`.
int resume_stored_run(const std::string& workspace, RunRow run, const ContinueOptions& options,
                      const Command& command);

}  // namespace strato::cli
