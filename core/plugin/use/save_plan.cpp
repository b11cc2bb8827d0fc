#include "core/plugin/use/save_plan.h"

#include "core/cost/model/measured_cost_model.h"
#include "core/io/json.h"
#include "core/plugin/use/import_note.h"
#include "core/program/project/rank_programs.h"
#include "core/program/rank/rank_program.h"
#include "core/search/constraints/constraints.h"
#include "core/sim/timeline/timeline.h"
#include "core/strategy/file/named_strategy.h"

namespace strato {
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

// Of a strategy that no planner has found, only what it costs.
Json noted(const Verdict& verdict) {
  Json result = result_json(verdict);
  if (verdict.planner.empty())
    for (const char* key : {"planner", "seed", "evaluations", "note"}) result.erase(key);
  if (verdict.outcome.timeline->options.fair_links) result["fair_links"] = true;
  return result;
}

}  // namespace

PlanFile plan_to_save(const std::filesystem::path& file, const ModelSource& model,
                      const Strategy& strategy, const Verdict& verdict,
                      const Constraints* constraints) {
  const Problem& problem = *verdict.problem;
  PlanFile plan;
  plan.graph_file = seen_from(file, model.path).string();
  plan.graph_name = model.name;
  plan.graph_digest = problem.graph->digest();
  plan.batch = problem.graph->batch();
  plan.optimizer = model.options.training ? std::string(name_of(model.options.optimizer)) : "none";
  plan.cluster_json = problem.cluster->json();
  plan.strategy = name_strategy(strategy, *problem.graph, *problem.grouping, *problem.cluster);
  Json result = noted(verdict);
  note_import(model.import, result);
  const std::string costs = describe(model.options.costs);
  if (!costs.empty()) result["costs"] = costs;
  if (constraints != nullptr) result["constraints"] = Json::parse(constraints_json(*constraints));
  plan.result_json = json_text(result);
  if (!verdict.outcome.timeline->is_outline()) plan.ranks = ranks_of(*verdict.outcome.timeline);
  return plan;
}

void save_plan(const std::filesystem::path& file, const ModelSource& model,
               const Strategy& strategy, const Verdict& verdict, const Constraints* constraints) {
  write_plan(file, plan_to_save(file, model, strategy, verdict, constraints));
}

}  // namespace strato
