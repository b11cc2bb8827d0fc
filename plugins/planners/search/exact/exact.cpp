#include "plugins/planners/search/exact/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/linear/solver.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/list/placement.h"
#include "plugins/planners/search/exact/coarsen.h"
#include "plugins/planners/search/exact/formulation.h"

namespace strato::exact {
namespace {

Nanos sum_of(const std::vector<Nanos>& times) {
  return std::accumulate(times.begin(), times.end(), Nanos());
}

// The end when everything runs one after another and every transfer takes longest.
Nanos latest_end(const Dag& dag, const TransferTimes& transfers) {
  const Weights longest = longest_weights(dag, transfers);
  return sum_of(longest.node) + sum_of(longest.edge);
}

// Nothing is shorter than the longest path, nor than all work shared evenly, at each node's best
// times.
Nanos simple_bound(const Dag& dag, const Cluster& cluster) {
  Weights best{std::vector<Nanos>(dag.size(), Nanos::max()), std::vector<Nanos>(dag.edge_count())};
  for (NodeIndex node = 0; at(node) < dag.size(); ++node)
    for (std::size_t type = 0; type < dag.gpu_type_count(); ++type)
      best.node[at(node)] = std::min(best.node[at(node)], dag.time(node, GpuTypeId(type)));
  const auto devices = static_cast<std::int64_t>(cluster.device_count());
  Nanos bound((sum_of(best.node).value + devices - 1) / devices);
  for (const Nanos path : b_levels(dag, best)) bound = std::max(bound, path);
  return bound;
}

Schedule schedule_of(const Formulation::Choice& choice, const Instance& instance) {
  std::vector<std::int64_t> place(instance.dag.size());
  for (std::size_t i = 0; i < place.size(); ++i)
    place[at(choice.order[i])] = static_cast<std::int64_t>(i);
  Schedule schedule =
      schedule_in_order(instance, choice.device, topological_by(instance.dag, place));
  CHECK(schedule.fits, "Cbc breaks a memory limit");
  return schedule;
}

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
  std::vector<PlanResult::Fact> facts{{"coarse nodes", fmt::format("{}", nodes)}};
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

Solution solve(const Instance& instance, double seconds, std::stop_token stop) {
  Solution solution;
  Schedule& best = solution.schedule;
  best = best_list_schedule(instance, stop);
  solution.first_makespan = best.makespan;
  solution.bound = simple_bound(instance.dag, instance.cluster);
  const auto begin = std::chrono::steady_clock::now();
  const Formulation formulation(
      instance, best.fits ? best.makespan : latest_end(instance.dag, instance.transfers));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  IntegerSearch search{seconds - spent.count(), std::move(stop), true, {}, {}};
  if (best.fits) search.start = formulation.solution_of(best);
  search.priorities.assign(at(formulation.program().integers), 2);  // orders behind placements
  std::fill_n(search.priorities.begin(), formulation.placements(), 1);
  const IntegerSolution found = solve_integer(formulation.program(), search);
  if (!found.values.empty()) {
    Schedule schedule = schedule_of(formulation.choice_of(found.values), instance);
    if (!best.fits || schedule.makespan < best.makespan) best = std::move(schedule);
  }
  solution.proven = found.proven;
  if (found.bound >= 0)
    solution.bound = std::max(solution.bound, formulation.bound_of(found.bound));
  // Nothing is shorter than what is known; where that does not fit, nothing fits at all.
  if (solution.proven) solution.bound = best.makespan;
  if (best.fits) solution.bound = std::min(solution.bound, best.makespan);
  return solution;
}

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
