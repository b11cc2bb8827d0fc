// One strategy of a language model, lowered whole and simulated with its memory: columns of eight
// GPUs, stages of whole layers by 1F1B, rows that share the updates. The limit for 405B on 8,192
// GPUs is 50 ms a core, which needs equal devices of meshes to be lowered once: they are not yet.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "tests/paths.h"

namespace strato {
namespace {

std::shared_ptr<const Cluster> machines_of_eight(int count) {
  const std::string file = std::string(kSourceFolder) + "/sample_graphs/clusters/h100-2x8.json";
  nlohmann::ordered_json cluster = nlohmann::ordered_json::parse(read_file(file));
  cluster["machines"][0]["count"] = count;
  return std::make_shared<const Cluster>(
      parse_cluster(cluster.dump(), file, GpuCatalogue::bundled()));
}

void BM_Llama(benchmark::State& state, const char* model, std::int64_t sequence, int machines,
              const char* stages) {
  static const PluginRegistry plugins;
  const std::string file = std::string(kSourceFolder) + "/tests/data/transformers/" + model;
  ImportOptions import;
  import.batch = 32;
  import.dimensions["sequence"] = sequence;
  const Graph graph = plugins.importer_for(file)->import(file, import);
  const Problem problem = make_problem(graph, machines_of_eight(machines), {});
  PlannerOptions options;
  options.floor = false;
  options.set = {{"stages", stages},
                 {"tensor", "8"},
                 {"micro_batches", "16"},
                 {"shard", "updates"},
                 {"recompute", "none"}};
  Observer quiet;
  const PlanResult planned = run_planner(*plugins.planner("pipeline"), problem, options, quiet, {});
  std::size_t tasks = 0;
  for (auto _ : state) {
    const Outcome outcome = simulate_strategy(problem, planned.strategy);
    tasks = outcome.timeline->program->tasks.size();
    state.counters["step_s"] = to_seconds(outcome.timeline->step_time);
  }
  state.counters["ops"] = static_cast<double>(problem.graph->op_count());
  state.counters["tasks"] = static_cast<double>(tasks);
}
BENCHMARK_CAPTURE(BM_Llama, 8B_on_16, "llama_3_8b.json", 4096, 2, "2")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Llama, 70B_on_64, "llama_3_70b.json", 4096, 8, "4")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
