// Celeritas from a problem to a strategy on training graphs of 36,000 and 100,000 ops and 4 equal
// GPUs (limits: 150 ms and 0.6 s), as the paper has it and without simulating the result; and the
// planner as it is shipped, which simulates what it tries, without and with the baselines that
// `plan` measures it against, and with so little of the devices' memory (in percent) that what it
// tries differs.
#include <benchmark/benchmark.h>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/schedule/list/placement.h"
#include "core/search/run/run_planner.h"
#include "plugins/planners/list/celeritas/celeritas.h"
#include "tests/bench/synthetic_graph.h"

namespace strato {
namespace {

const Problem& problem_of(std::int64_t ops) {
  const auto make = [](std::size_t count) {
    Problem problem;
    problem.graph = synthetic::training_graph(count);
    problem.cluster = toy::cluster(1, 4);
    problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
    const std::vector<std::int32_t> one_group(problem.graph->op_count(), 0);
    problem.grouping = std::make_shared<const Grouping>(
        *problem.graph, one_group, mean_op_times(*problem.graph, *problem.cluster, *problem.cost));
    return problem;
  };
  static const Problem few = make(36'000);
  if (ops <= 36'000) return few;
  static const Problem many = make(100'000);
  return many;
}

void BM_Celeritas(benchmark::State& state) {
  const Problem& problem = problem_of(state.range(0));
  std::size_t clusters = 0;
  std::int64_t moves = 0;
  for (auto _ : state) {
    const celeritas::Recipe recipe;
    const celeritas::Fine fine(problem);
    const celeritas::Coarse coarse = celeritas::coarsen(fine, recipe);
    const celeritas::Placed placed = celeritas::place(fine, coarse, recipe);
    benchmark::DoNotOptimize(
        strategy_of(problem, placed.schedule, coarse.fusion.cluster_of, false));
    clusters = coarse.dag.size();
    moves = placed.moves;
  }
  state.counters["ops"] = static_cast<double>(problem.graph->op_count());
  state.counters["clusters"] = static_cast<double>(clusters);
  state.counters["moves"] = static_cast<double>(moves);
}
BENCHMARK(BM_Celeritas)->Arg(36'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void BM_CeleritasPlanner(benchmark::State& state) {
  static const PluginRegistry plugins;
  const Problem& problem = problem_of(state.range(0));
  PlannerOptions options;
  options.floor = state.range(1) != 0;
  options.set["memory"] = std::to_string(0.01 * static_cast<double>(state.range(2)));
  Observer quiet;
  for (auto _ : state) {
    const PlanResult result =
        run_planner(*plugins.planner("celeritas"), problem, options, quiet, {});
    state.counters["evaluations"] = static_cast<double>(result.evaluations);
    state.counters["step_ms"] = to_seconds(result.score.step_time) * 1e3;
  }
}
BENCHMARK(BM_CeleritasPlanner)
    ->ArgNames({"", "baselines", "memory"})
    ->ArgsProduct({{36'000, 100'000}, {0, 1}, {100, 5}})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
