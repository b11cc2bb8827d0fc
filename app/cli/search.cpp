#include "app/cli/search.h"

#include "app/cli/constraint_options.h"
#include "app/cli/recorder.h"
#include "core/base/error.h"
#include "core/plugin/use/save_plan.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/constraints/constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"

namespace strato::cli {

SearchOutcome search(const SearchJob& job) {
  Interrupt& interrupt = *job.interrupt;
  const auto planner = plugins().planner(job.planner);
  const Problem& problem = *job.problem;
  bind_constraints(job.options.constraints.get(), problem);  // before anything is stored
  if (job.options.constraints) remark_on_names(*job.options.constraints, *problem.cluster);
  SearchOutcome outcome;
  outcome.constraints = job.options.constraints;
  Outcome baseline = simulate_outline(problem, data_parallel(problem));
  Recorder recorder(problem, job.planner, job.options);
  if (job.forget_focus) recorder.forget_focus();
  if (job.resume != nullptr) {
    recorder.continue_run(*job.workspace, *job.resume);
  } else if (job.workspace != nullptr) {
    recorder.record(*job.workspace, *job.model, baseline.score.step_time);
  }
  interrupt.arm();
  try {
    outcome.result =
        run_planner(*planner, problem, job.options, recorder, interrupt.token(), job.tree);
  } catch (...) {
    recorder.finish(nullptr, RunState::Failed);
    throw;
  }
  recorder.finish(&outcome.result, interrupt.requested() ? RunState::Stopped : RunState::Finished);
  outcome.run = recorder.run();
  outcome.verdict = make_verdict(problem, outcome.result.strategy, std::move(baseline));
  outcome.verdict.own_groups = outcome.result.strategy.grouping != nullptr;
  outcome.verdict.planner = job.planner;
  outcome.verdict.seed = job.options.seed;
  outcome.verdict.evaluations = outcome.result.evaluations;
  outcome.verdict.evaluations_to_beat_data_parallel =
      outcome.result.evaluations_to_beat_data_parallel;
  outcome.verdict.note = outcome.result.note;
  outcome.verdict.facts = outcome.result.facts;
  outcome.verdict.curves = outcome.result.curves;
  outcome.verdict.stopped = interrupt.requested();
  return outcome;
}

void write_plan_file(const std::filesystem::path& file, const LoadedModel& model,
                     const SearchOutcome& outcome) {
  save_plan(file, model, outcome.result.strategy, outcome.verdict, outcome.constraints.get());
}

}  // namespace strato::cli
