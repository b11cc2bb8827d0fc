// The main job on BERT-Large and the TAG testbed: from the file to a searched strategy. Limits that
// the program holds itself to: import + training graph + grouping 1 s, lower + simulate 60 ms, 30
// evaluations a second and core, command line start 60 ms.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/program/lower/lower.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/run/run_planner.h"

namespace strato {
namespace {

Graph import_bert(const PluginRegistry& plugins) {
  const auto file = home_directory() / "sample_graphs/models/bert_large.onnx";
  ImportOptions options;
  options.batch = 16;
  return plugins.importer_for(file)->import(file, options);
}

std::shared_ptr<const Cluster> testbed() {
  return std::make_shared<const Cluster>(read_cluster(
      home_directory() / "sample_graphs/clusters/tag-testbed.json", GpuCatalogue::bundled()));
}

const Problem& bert_on_testbed() {
  static const PluginRegistry plugins;
  static const Problem problem = make_problem(import_bert(plugins), testbed(), {});
  return problem;
}

void BM_ImportTrainGroup(benchmark::State& state) {
  const PluginRegistry plugins;
  const auto cluster = testbed();
  for (auto _ : state) benchmark::DoNotOptimize(make_problem(import_bert(plugins), cluster, {}));
}
BENCHMARK(BM_ImportTrainGroup)->Unit(benchmark::kMillisecond);

void BM_LowerAndSimulate(benchmark::State& state, Mode mode) {
  const Problem& problem = bert_on_testbed();
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  Simulator simulator;
  const CompleteStrategy strategy(data_parallel(problem, mode), *problem.cluster);
  std::size_t tasks = 0;
  for (auto _ : state) {
    const auto timeline =
        simulator.simulate(std::make_shared<const Program>(lowering.lower(strategy)));
    tasks = timeline.tasks.size();
  }
  state.counters["tasks"] = static_cast<double>(tasks);
  state.counters["time_per_task"] =
      benchmark::Counter(static_cast<double>(tasks), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(BM_LowerAndSimulate, allreduce, Mode::ReplicateAllReduce)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_LowerAndSimulate, ps, Mode::ReplicatePs)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_LowerAndSimulate, model_parallel, Mode::ModelParallel)
    ->Unit(benchmark::kMillisecond);

// One thread, so items per second are evaluations a second and core.
void BM_TreeSearch(benchmark::State& state) {
  const Problem& problem = bert_on_testbed();
  const PluginRegistry plugins;
  const auto planner = plugins.planner("mcts");
  PlannerOptions options;
  options.iterations = 200;
  options.threads = 1;
  Observer nobody;
  std::int64_t evaluations = 0;
  for (auto _ : state)
    evaluations += run_planner(*planner, problem, options, nobody, {}).evaluations;
  state.SetItemsProcessed(evaluations);
}
BENCHMARK(BM_TreeSearch)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_CommandLineStart(benchmark::State& state) {
  const std::string command =
      (home_directory() / "bin/stratoscope-cli").string() + " list planners >/dev/null";
  for (auto _ : state) {
    if (std::system(command.c_str()) != 0) state.SkipWithError("the command line failed");
  }
}
BENCHMARK(BM_CommandLineStart)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace strato
