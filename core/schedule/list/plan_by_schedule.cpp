#include "core/schedule/list/plan_by_schedule.h"

#include <array>
#include <memory>
#include <utility>

#include "core/schedule/list/placement.h"

namespace strato {
namespace {

constexpr std::array kParts = {1.0, 0.85, 0.7, 0.55, 0.4};

std::shared_ptr<PlanningSteps> steps_of_ops(const Problem& problem, const Dag& dag,
                                            const std::string& algorithm) {
  auto steps = std::make_shared<PlanningSteps>();
  steps->algorithm = algorithm;
  for (std::size_t i = 0; i < dag.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    steps->nodes.push_back({OpId(i)});
    steps->names.push_back(problem.graph->op(OpId(i)).name);
    for (const DagEdge& edge : dag.successors(node))
      steps->edges.push_back({node, edge.node, dag.bytes(edge.edge)});
  }
  return steps;
}

std::string percent(double part) {
  return std::to_string(static_cast<int>(part * 100 + 0.5)) + " %";
}

}  // namespace

OptionTable ListPlannerSettings::option_table(std::string paper_help) {
  return {{"order", with_order, "ops run in the order of the schedule; false: first in, first out"},
          {"variant", paper, {"default", "paper"}, std::move(paper_help)}};
}

PlanResult plan_by_schedule(const Problem& problem, const Dag& dag, Evaluator& evaluator,
                            const PlannerOptions& options, Observer& observer,
                            const std::stop_token& stop, const ListPlannerSettings& settings,
                            const MakeSchedule& make) {
  PlanResult result;
  for (const double part : kParts) {
    std::shared_ptr<PlanningSteps> steps;
    if (options.record_steps) steps = steps_of_ops(problem, dag, settings.algorithm);
    const Schedule schedule = make(part, steps.get());
    Strategy strategy = strategy_of(problem, schedule, {}, settings.with_order);
    const Score score = evaluator.evaluate(strategy);
    const bool first = result.evaluations++ == 0;
    if (first || score.better_than(result.score)) {
      result.strategy = std::move(strategy);
      result.score = score;
      result.steps = std::move(steps);
      result.facts = {{"scheduled makespan", std::to_string(schedule.makespan.value) + " ns"}};
      if (part < 1) result.facts.push_back({"memory planned with", percent(part)});
      observer.on_improvement(result.strategy, score,
                              {result.evaluations, result.evaluations, 0, score});
    }
    // A need beyond what the devices hold gets no smaller by planning with less of them.
    if (result.score.feasible || settings.paper || !schedule.fits || stop.stop_requested()) break;
  }
  return result;
}

std::vector<PlanningSteps::Candidate> candidates_of(const Scheduling& scheduling, NodeIndex node,
                                                    const Cluster& cluster) {
  std::vector<PlanningSteps::Candidate> candidates;
  for (std::size_t d = 0; d < cluster.device_count(); ++d) {
    const DeviceId device(d);
    candidates.push_back({device, scheduling.earliest_start(node, device),
                          scheduling.earliest_finish(node, device),
                          scheduling.has_room(node, device)});
  }
  return candidates;
}

}  // namespace strato
