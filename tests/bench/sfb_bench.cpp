// Sufficient factor broadcasting on BERT-Large, batch 4, two GTX 1080 Ti, 60 groups, data parallel:
// all of its gradients' programs from nothing (limit 3 s), a typical gradient's alone by Cbc (limit
// 50 ms) and by the minimum cut, and again for a strategy that is a neighbour of one before.
#include <benchmark/benchmark.h>

#include <numeric>

#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/program/sfb/sfb.h"
#include "core/search/evaluate/baselines.h"

namespace strato {
namespace {

Problem problem_on(const std::string& cluster_name, std::int64_t batch) {
  static const PluginRegistry plugins;
  const auto home = home_directory();
  const auto file = home / "sample_graphs/models/bert_large.onnx";
  ImportOptions options;
  options.batch = batch;
  const auto cluster = std::make_shared<const Cluster>(read_cluster(
      home / "sample_graphs/clusters" / (cluster_name + ".json"), GpuCatalogue::bundled()));
  return make_problem(plugins.importer_for(file)->import(file, options), cluster, {});
}

const Problem& split_bert() {
  static const Problem problem = problem_on("tag-2x1080ti", 4);
  return problem;
}
const Problem& split_testbed() {
  static const Problem problem = problem_on("tag-testbed", 16);
  return problem;
}

SfbSolver solver_of(const Problem& problem, const SfbOptions& options) {
  return {problem.graph, problem.grouping, problem.cluster, problem.cost, options};
}

void all_gradients(benchmark::State& state, SfbMethod method) {
  const Strategy strategy = data_parallel(split_bert());
  SfbOptions options;
  options.method = method;
  SfbReport report;
  for (auto _ : state) report = solver_of(split_bert(), options).solve(strategy);
  state.counters["gradients"] = static_cast<double>(report.gradients.size());
  state.counters["programs"] = report.subgraphs;
  state.counters["by_cbc"] = report.by_cbc;
  state.counters["duplicated"] = static_cast<double>(report.duplicated().size());
  double ops = 0;
  for (const SfbGradient& gradient : report.gradients) ops += gradient.ops;
  state.counters["ops_each"] = ops / static_cast<double>(report.gradients.size());
}
BENCHMARK_CAPTURE(all_gradients, sfb_bert_by_cbc, SfbMethod::Cbc)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_gradients, sfb_bert_by_cut, SfbMethod::MinimumCut)
    ->Unit(benchmark::kMillisecond);

// One group after the other decided at random, as a tree search asks.
void neighbours(benchmark::State& state, SfbMethod method) {
  SfbOptions options;
  options.method = method;
  options.threads = 1;
  SfbSolver solver = solver_of(split_testbed(), options);
  Strategy strategy = data_parallel(split_testbed());
  solver.solve(strategy);
  Random random(1);
  double solved = 0;
  for (auto _ : state) {
    const auto& groups = split_testbed().cluster->groups();
    std::vector<DeviceGroupId> chosen;
    while (chosen.empty())
      for (std::size_t i = 0; i < groups.size(); ++i)
        if (random.below(2) == 0) chosen.push_back(DeviceGroupId(i));
    strategy.groups[GroupId(random.below(strategy.groups.size()))] =
        decision_on_groups(*split_testbed().cluster, chosen,
                           random.below(2) == 0 ? Mode::ReplicateAllReduce : Mode::ReplicatePs);
    solved += solver.solve(strategy).solved;
  }
  state.counters["solved_each"] = benchmark::Counter(solved, benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(neighbours, sfb_neighbour_by_cbc, SfbMethod::Cbc)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(300);
BENCHMARK_CAPTURE(neighbours, sfb_neighbour_by_cut, SfbMethod::MinimumCut)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(300);

}  // namespace
}  // namespace strato
