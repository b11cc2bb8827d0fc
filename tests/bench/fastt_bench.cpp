// FastT: DPOS on the data-parallel graph of a long chain of layers, 8 equal GPUs and about 100,000
// nodes (limit: 1 s); a trial of a split against the whole schedule; the planner as it is shipped
// on sample models (limits: 10 s for the Transformer over 8 GPUs, 2 s for the others of FastT Table
// 4).
#include <benchmark/benchmark.h>

#include <array>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/run/run_planner.h"
#include "plugins/planners/list/fastt/os_dpos.h"
#include "tests/core/search/toy.h"
#include "tests/paths.h"

namespace strato {
namespace {

// The training graph of a chain of layers.
const Problem& chain_problem_of(std::int64_t layers) {
  const auto make = [](std::int64_t count) {
    return make_problem(toy::chain(static_cast<int>(count), 64, 256),
                        toy::sample_cluster("fastt-8xv100"), {});
  };
  static const Problem few = make(400);
  if (layers <= 400) return few;
  static const Problem many = make(2'000);
  return many;
}

void BM_Dpos(benchmark::State& state) {
  const Problem& problem = chain_problem_of(state.range(0));
  const fastt::ReplicaGraph graph = fastt::replica_graph(problem, 8);
  for (auto _ : state) {
    const Dpos dpos(graph.dag, *problem.cluster, *problem.cost, {});
    benchmark::DoNotOptimize(dpos.makespan());
  }
  state.counters["nodes"] = static_cast<double>(graph.dag.size());
  state.counters["edges"] = static_cast<double>(graph.dag.edge_count());
}
BENCHMARK(BM_Dpos)->Arg(400)->Arg(2'000)->Unit(benchmark::kMillisecond);

void BM_ReplicaGraph(benchmark::State& state) {
  const Problem& problem = chain_problem_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(fastt::replica_graph(problem, 8).nodes.size());
}
BENCHMARK(BM_ReplicaGraph)->Arg(2'000)->Unit(benchmark::kMillisecond);

// Every replica of the op with the longest time, in two parts.
void BM_Trial(benchmark::State& state) {
  const Problem& problem = chain_problem_of(state.range(0));
  const fastt::Plan plan = fastt::make_plan(problem, 8, {});
  const std::vector<NodeIndex> path = fastt::scheduled_critical_path(*plan.dpos);
  std::size_t i = 0, placed = 0, trials = 0;
  for (auto _ : state) {
    const NodeIndex node = path[i++ % path.size()];
    if (plan.graph.nodes[static_cast<std::size_t>(node)].role != fastt::Role::Replica) continue;
    const auto split = fastt::split_batch(problem, plan.graph.nodes, *plan.dpos, node, 2);
    if (!split) continue;
    placed += plan.dpos->trial(split->edit).placed;
    ++trials;
  }
  state.counters["placed"] =
      static_cast<double>(placed) / static_cast<double>(std::max<std::size_t>(1, trials));
  state.counters["nodes"] = static_cast<double>(plan.graph.dag.size());
}
BENCHMARK(BM_Trial)->Arg(2'000)->Unit(benchmark::kMillisecond);

struct Sample {
  const char* model;
  std::int64_t batch;
};
constexpr std::array<Sample, 9> kSamples{{{"transformer", 64},
                                          {"bert_large", 16},
                                          {"inception_v3", 64},
                                          {"vgg19", 64},
                                          {"resnet200", 32},
                                          {"lenet", 256},
                                          {"alexnet", 256},
                                          {"gnmt", 128},
                                          {"rnnlm", 64}}};

void BM_FastTPlanner(benchmark::State& state) {
  static const PluginRegistry plugins;
  const Sample sample = kSamples[static_cast<std::size_t>(state.range(0))];
  const std::string root = std::string(kSourceFolder) + "/sample_graphs/";
  ImportOptions import;
  import.batch = sample.batch;
  const std::string file = root + "models/" + sample.model + ".onnx";
  const auto cluster = std::make_shared<const Cluster>(
      read_cluster(root + "clusters/fastt-8xv100.json", GpuCatalogue::bundled()));
  const Problem problem =
      make_problem(plugins.importer_for(file)->import(file, import), cluster, {});
  PlannerOptions options;
  options.floor = false;
  Observer quiet;
  for (auto _ : state) {
    const PlanResult result = run_planner(*plugins.planner("fastt"), problem, options, quiet, {});
    state.counters["step_ms"] = to_seconds(result.score.step_time) * 1e3;
    state.counters["evaluations"] = static_cast<double>(result.evaluations);
  }
  state.SetLabel(sample.model);
}
BENCHMARK(BM_FastTPlanner)
    ->DenseRange(0, kSamples.size() - 1)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace strato
