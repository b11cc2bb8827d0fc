#include "app/cli/continue_run.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/cli/output.h"
#include "app/cli/search.h"
#include "app/cli/trial_store.h"
#include "core/base/error.h"
#include "core/io/json.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"

namespace strato::cli {
namespace {

PlannerOptions options_for(const Continuation& continuation, const ContinueOptions& options) {
  const StoredRun& run = continuation.run;
  PlannerOptions planner = options_from(continuation.workspace, run);
  if (const auto where = planner.set.find(kTrialsOn); where != planner.set.end())
    throw InputError("", fmt::format("run {}", run.id),
                     "was searched by trials on " + where->second + ", not by simulation",
                     "go on with the same command: trials --workspace");
  planner.iterations = options.iterations;
  planner.threads = options.threads;
  planner.budget_seconds = options.budget ? parse_duration(*options.budget, "--budget") : 0;
  return planner;
}

}  // namespace

void ContinueOptions::declare(CLI::App& command) {
  auto* count = command.add_option("--iterations", iterations, "More evaluations")
                    ->capture_default_str()
                    ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command.add_option("--budget", budget, "Time instead: 10s, 2m, 1h")->excludes(count);
  command.add_option("--threads", threads, "0: one for each core")->check(CLI::Range(0, 4096));
  command.add_option("-o,--output", output, "Plan file to write");
}

int continue_run(const Continuation& continuation, const ContinueOptions& options,
                 Interrupt& interrupt, const Command& command) {
  SearchJob job;
  job.model = &continuation.stored.model;
  job.problem = &continuation.stored.problem;
  job.planner = continuation.run.planner;
  job.options = options_for(continuation, options);
  job.workspace = &continuation.workspace;
  job.resume = &continuation.run;
  job.tree = continuation.tree;
  job.forget_focus = continuation.forget_focus;
  job.interrupt = &interrupt;
  const SearchOutcome outcome = search(job);
  if (!options.output.empty()) write_plan_file(options.output, continuation.stored.model, outcome);
  print(command.json ? json_text(verdict_json(outcome.verdict, command.wall_seconds())) + "\n"
                     : verdict_text(outcome.verdict, command.wall_seconds()));
  return outcome.verdict.feasible() ? Done : Infeasible;
}

int resume_stored_run(const std::string& workspace, RunRow run, const ContinueOptions& options,
                      const Command& command) {
  Interrupt interrupt;
  check_writable(options.output, {workspace});
  Workspace opened = open_existing(workspace, true);
  const RunLock lock(opened.file(), find_run(opened, run).id);
  const StoredRun found = find_run(opened, run);  // as it is now that nobody else changes it
  const auto tree = options.afresh ? nullptr : stored_tree(opened, found);
  const StoredProblem stored = stored_problem(opened, found, tree.get());
  return continue_run({opened, found, stored, tree}, options, interrupt, command);
}

}  // namespace strato::cli
