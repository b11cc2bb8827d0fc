#include "core/search/constraints/constrained.h"

#include <fmt/format.h>

#include "core/search/tree/search_tree.h"

namespace strato {

std::vector<Score> RepairingEvaluator::score(std::span<const CompleteStrategy> strategies) {
  std::vector<CompleteStrategy> repaired(strategies.begin(), strategies.end());
  for (CompleteStrategy& strategy : repaired)
    if (!constraints_.violated(*strategy).empty())
      strategy = CompleteStrategy(constraints_.repaired(*strategy), cluster());
  return inner_.score(repaired);
}

void RepairingObserver::on_improvement(const Strategy& strategy, const Score& score,
                                       const Progress& progress) {
  inner_.on_improvement(constraints_.repaired(strategy), score, progress);
}

void hold_to_constraints(PlanResult& result, const BoundConstraints& constraints,
                         const Problem& problem, Evaluator& evaluator) {
  Strategy kept = constraints.repaired(result.strategy);
  const Strategy found = complete(result.strategy, *problem.cluster);
  std::size_t ops = 0;
  const Problem before = problem_for(problem, found), after = problem_for(problem, kept);
  for (std::size_t i = 0; i < problem.graph->op_count(); ++i) {
    const OpId op(i);
    ops += found.groups[before.grouping->group_of(op)] != kept.groups[after.grouping->group_of(op)];
  }
  result.facts.push_back({"constraints", ops == 0
                                             ? "kept by the planner's own result"
                                             : fmt::format("moved {} ops of its result", ops)});
  result.strategy = std::move(kept);
  result.score = evaluator.evaluate(result.strategy);
}

PlanResult plan_within(const BoundConstraints* constraints, Planner& planner,
                       const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                       Observer& observer, std::stop_token stop,
                       std::shared_ptr<const SearchTree> resume) {
  if (constraints == nullptr)
    return planner.plan(problem, evaluator, options, observer, std::move(stop), std::move(resume));
  RepairingEvaluator repairing(evaluator, *constraints);
  RepairingObserver told(observer, *constraints);
  PlanResult result =
      planner.plan(problem, repairing, options, told, std::move(stop), std::move(resume));
  hold_to_constraints(result, *constraints, problem, evaluator);
  return result;
}

}  // namespace strato
