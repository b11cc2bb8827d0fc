#include "app/cli/search.h"

#include "app/cli/constraint_options.h"
#include "app/cli/recorder.h"
#include "core/base/error.h"
#include "core/plugin/use/import_note.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/constraints/constraints.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "core/search/tree/search_tree.h"
#include "core/sim/timeline/timeline.h"
#include "core/strategy/file/named_strategy.h"

namespace strato::cli {
namespace {

// A relative name counts from the plan's folder, so that it holds wherever the plan is read from.
std::filesystem::path seen_from(const std::filesystem::path& plan,
                                const std::filesystem::path& model) {
  if (model.is_absolute()) return model;
  return std::filesystem::relative(model, std::filesystem::absolute(plan).parent_path());
}

PlanRanks ranks_of(const Timeline& timeline) {
  const RankPrograms programs = rank_programs(*timeline.program, execution_order(timeline));
  return {RankProgram::kVersion, static_cast<std::int64_t>(programs.ranks.size()),
          programs.digest()};
}

}  // namespace

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
  const Problem& problem = *outcome.verdict.problem;
  PlanFile plan;
  plan.graph_file = seen_from(file, model.path).string();
  plan.graph_name = model.name;
  plan.graph_digest = problem.graph->digest();
  plan.batch = problem.graph->batch();
  plan.optimizer = model.options.training ? std::string(name_of(model.options.optimizer)) : "none";
  plan.cluster_json = problem.cluster->json();
  plan.strategy =
      name_strategy(outcome.result.strategy, *problem.graph, *problem.grouping, *problem.cluster);
  Json result = result_json(outcome.verdict);
  note_import(model.import, result);
  const std::string costs = describe(model.options.costs);
  if (!costs.empty()) result["costs"] = costs;
  if (outcome.constraints)
    result["constraints"] = Json::parse(constraints_json(*outcome.constraints));
  plan.result_json = json_text(result);
  if (!outcome.verdict.outcome.timeline->is_outline())
    plan.ranks = ranks_of(*outcome.verdict.outcome.timeline);
  write_plan(file, plan);
}

}  // namespace strato::cli
