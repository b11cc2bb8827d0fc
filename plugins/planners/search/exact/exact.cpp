#include "plugins/planners/search/exact/exact.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/schedule/list/placement.h"
#include "plugins/planners/search/exact/coarsen.h"
#include "plugins/planners/search/exact/solve.h"

namespace strato::exact {
namespace {

// Cut off, not rounded.
std::string fixed(double value, int digits) {
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + static_cast<std::size_t>(digits) + 1);
}

std::string milliseconds(Nanos time) {
  return fixed(static_cast<double>(time.value) * 1e-6, 3) + " ms";
}

std::vector<PlanResult::Fact> facts_of(const Solution& solution, std::size_t nodes) {
  const Schedule& schedule = solution.schedule;
  std::vector<PlanResult::Fact> facts{{"coarse nodes", std::to_string(nodes)}};
  if (!schedule.fits) {
    facts.push_back({"memory", solution.proven ? "no placement of these nodes fits (proven)"
                                               : "no placement that fits was found"});
    return facts;
  }
  const auto gap = static_cast<double>((schedule.makespan - solution.bound).value) /
                   static_cast<double>(std::max<std::int64_t>(schedule.makespan.value, 1));
  facts.push_back({"makespan", milliseconds(schedule.makespan)});
  facts.push_back({"bound", milliseconds(solution.bound)});
  facts.push_back({"gap", solution.proven ? "0 % (optimal)" : fixed(100 * gap, 2) + " %"});
  facts.push_back({"list schedule", milliseconds(solution.first_makespan)});
  return facts;
}

}  // namespace

OptionTable Settings::option_table() {
  return {
      {"limit", limit, {0}, "seconds for the integer program; a smaller time budget holds, too"},
      {"nodes", nodes, {2, 200}, "a larger graph is coarsened to so many nodes"}};
}

// Tries the order of the schedule, and first in first out: inside of a node the simulator knows
// more.
PlanResult plan(const PlanRequest& request, const Settings& settings) {
  const Problem& problem = request.problem;
  const double budget = request.options.budget_seconds;
  const Coarse coarse = coarsen(problem, settings.nodes);
  const TransferTimes transfers(coarse.dag, *problem.cluster, *problem.cost);
  const Solution solution =
      solve({coarse.dag, transfers, *problem.cluster},
            budget > 0 ? std::min(settings.limit, budget) : settings.limit, request.stop);
  PlanResult result =
      best_of(request, {strategy_of(problem, solution.schedule, coarse.node_of, true),
                        strategy_of(problem, solution.schedule, coarse.node_of, false)});
  result.facts = facts_of(solution, coarse.dag.size());
  if (!solution.schedule.fits)
    result.note = result.facts.back().value + ": each node is whole on one device";
  return result;
}

}  // namespace strato::exact
