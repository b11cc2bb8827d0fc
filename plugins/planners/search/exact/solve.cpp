#include "plugins/planners/search/exact/solve.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/linear/solver.h"
#include "plugins/planners/search/exact/formulation.h"

namespace strato::exact {
namespace {

// The end when everything runs one after another and every transfer takes longest.
Nanos latest_end(const Dag& dag, const TransferTimes& transfers) {
  Nanos end;
  for (NodeIndex node = 0; at(node) < dag.size(); ++node) {
    Nanos longest;
    for (std::size_t type = 0; type < dag.gpu_type_count(); ++type)
      longest = std::max(longest, dag.time(node, GpuTypeId(type)));
    end += longest;
  }
  for (std::int32_t e = 0; at(e) < dag.edge_count(); ++e) end += transfers.longest(e);
  return end;
}

// Nothing is shorter than the longest path, nor than all work shared evenly, at each node's best
// times.
Nanos simple_bound(const Dag& dag, const Cluster& cluster) {
  std::vector<Nanos> ready(dag.size());
  Nanos longest, work;
  for (NodeIndex node = 0; at(node) < dag.size(); ++node) {
    Nanos time = Nanos::max();
    for (std::size_t type = 0; type < dag.gpu_type_count(); ++type)
      time = std::min(time, dag.time(node, GpuTypeId(type)));
    const Nanos end = ready[at(node)] + time;
    work += time;
    longest = std::max(longest, end);
    for (const DagEdge& edge : dag.successors(node))
      ready[at(edge.node)] = std::max(ready[at(edge.node)], end);
  }
  const auto devices = static_cast<std::int64_t>(cluster.device_count());
  return std::max(longest, Nanos((work.value + devices - 1) / devices));
}

// Places are branched on before orders.
std::vector<int> placement_first(const Formulation& formulation) {
  std::vector<int> priorities;
  for (int c = 0; c < formulation.program().integers; ++c)
    priorities.push_back(formulation.is_placement(c) ? 1 : 2);
  return priorities;
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
  search.priorities = placement_first(formulation);
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

}  // namespace strato::exact
