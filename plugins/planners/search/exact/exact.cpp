#include "plugins/planners/search/exact/exact.h"

#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/placement.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/search/exact/coarsen.h"
#include "plugins/planners/search/exact/solve.h"

namespace strato::exact {
namespace {

std::string fixed(double value, int digits) {
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + static_cast<std::size_t>(digits) + 1);
}

std::string milliseconds(Nanos time) {
  return fixed(static_cast<double>(time.value) * 1e-6, 3) + " ms";
}

struct Settings {
  double limit = 10;  // seconds
  std::size_t nodes = 40;

  OptionTable option_table() {
    return {
        {"limit", limit, {0}, "seconds for the integer program; a smaller time budget holds, too"},
        {"nodes", nodes, {2, 200}, "a larger graph is coarsened to so many nodes"}};
  }
};

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

class Exact final : public Planner {
 public:
  std::string name() const override { return "exact"; }
  std::vector<OptionHelp> options() const override { return list_options<Settings>(); }

  PlanResult plan(const Problem& problem, Evaluator& evaluator, const PlannerOptions& options,
                  Observer& observer, std::stop_token stop,
                  std::shared_ptr<const SearchTree>) override {
    Settings settings = read_options<Settings>(options.set);
    if (options.budget_seconds > 0)
      settings.limit = std::min(settings.limit, options.budget_seconds);
    const Coarse coarse = coarsen(problem, settings.nodes);
    const TransferTimes transfers(coarse.dag, *problem.cluster, *problem.cost);
    const Solution solution =
        solve(coarse.dag, transfers, *problem.cluster, settings.limit, std::move(stop));
    PlanResult result = best_of(problem, evaluator, solution.schedule, coarse.node_of);
    result.facts = facts_of(solution, coarse.dag.size());
    if (!solution.schedule.fits)
      result.note = result.facts.back().value + ": each node is whole on one device";
    observer.on_improvement(result.strategy, result.score,
                            {1, result.evaluations, 0, result.score});
    return result;
  }

 private:
  // Tries the order of the schedule, and first in first out: inside of a node the simulator knows
  // more.
  static PlanResult best_of(const Problem& problem, Evaluator& evaluator, const Schedule& schedule,
                            const std::vector<NodeIndex>& node_of) {
    const std::vector<Strategy> strategies{strategy_of(problem, schedule, node_of, true),
                                           strategy_of(problem, schedule, node_of, false)};
    const std::vector<Score> scores = evaluator.evaluate(strategies);
    const std::size_t best = scores[1].better_than(scores[0]) ? 1 : 0;
    PlanResult result;
    result.strategy = strategies[best];
    result.score = scores[best];
    result.evaluations = 2;
    return result;
  }
};

}  // namespace
std::unique_ptr<Planner> make_exact() { return std::make_unique<Exact>(); }

}  // namespace strato::exact
