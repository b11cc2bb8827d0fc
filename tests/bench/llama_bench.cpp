// One strategy of a language model, lowered and simulated with its memory: columns of eight GPUs,
// stages of whole layers by 1F1B, rows that share the updates. Whole, as a plan is shown, and as a
// search evaluates it: of devices that do the same, one.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
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

enum class Lowered { Whole, Once };

// By 1F1B; of several chunks a stage, interleaved.
struct Pipelined {
  const char* stages;
  const char* chunks = "1";
  std::int64_t batch = 32;
};

void BM_Llama(benchmark::State& state, const char* model, std::int64_t sequence, int machines,
              const Pipelined& pipelined, Lowered how) {
  static const PluginRegistry plugins;
  const std::string file = std::string(kSourceFolder) + "/tests/data/transformers/" + model;
  ImportOptions import;
  import.batch = pipelined.batch;
  import.dimensions["sequence"] = sequence;
  const Graph graph = plugins.importer_for(file)->import(file, import);
  const Problem problem = make_problem(graph, machines_of_eight(machines), {});
  PlannerOptions options;
  options.floor = false;
  const bool interleaved = pipelined.chunks != std::string_view("1");
  options.set = {{"stages", pipelined.stages},
                 {"chunks", pipelined.chunks},
                 {"schedule", interleaved ? "interleaved" : "1f1b"},
                 {"tensor", "8"},
                 {"micro_batches", "16"},
                 {"shard", "updates"},
                 {"recompute", "none"},
                 {"offload", "none"}};
  Observer quiet;
  const PlanResult planned = run_planner(*plugins.planner("pipeline"), problem, options, quiet, {});
  const auto evaluator = make_simulating_evaluator(problem, 1);
  evaluator->evaluate(planned.strategy);
  for (auto _ : state) {
    const Score score = how == Lowered::Once ? evaluator->evaluate(planned.strategy)
                                             : simulate_strategy(problem, planned.strategy).score;
    state.counters["step_s"] = to_seconds(score.step_time);
  }
  state.counters["ops"] = static_cast<double>(problem.graph->op_count());
}
BENCHMARK_CAPTURE(BM_Llama, 8B_on_16_whole, "llama_3_8b.json", 4096, 2, {"2"}, Lowered::Whole)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Llama, 8B_on_16, "llama_3_8b.json", 4096, 2, {"2"}, Lowered::Once)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Llama, 70B_on_64_whole, "llama_3_70b.json", 4096, 8, {"4"}, Lowered::Whole)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Llama, 70B_on_64, "llama_3_70b.json", 4096, 8, {"4"}, Lowered::Once)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Llama, 405B_on_128, "llama_3_1_405b.json", 8192, 16, {"8"}, Lowered::Once)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Llama, 405B_on_8192, "llama_3_1_405b.json", 8192, 1024, {"8", "1", 2048},
                  Lowered::Once)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Llama, 405B_on_8192_interleaved, "llama_3_1_405b.json", 8192, 1024,
                  {"8", "2", 2048}, Lowered::Once)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
