// The planner "tag" with its network, on the TAG testbed. Limits that the program holds itself to
// on two cores: 300 evaluations a second for VGG19, 80 for BERT-Large, both with the network asked.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_planner.h"
#include "plugins/planners/learned/tag/network/feature_maker.h"
#include "plugins/planners/learned/tag/network/network.h"

namespace strato {
namespace {

Problem on_testbed(const std::string& model, std::int64_t batch) {
  static const PluginRegistry plugins;
  const auto file = home_directory() / "sample_graphs/models" / (model + ".onnx");
  ImportOptions options;
  options.batch = batch;
  const auto cluster = std::make_shared<const Cluster>(read_cluster(
      home_directory() / "sample_graphs/clusters/tag-testbed.json", GpuCatalogue::bundled()));
  return make_problem(plugins.importer_for(file)->import(file, options), cluster, {});
}

const Problem& vgg19() {
  static const Problem problem = on_testbed("vgg19", 96);
  return problem;
}

const Problem& bert_large() {
  static const Problem problem = on_testbed("bert_large", 16);
  return problem;
}

// Weights of the default size: a fresh network costs what a trained one does.
std::string weights() {
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "tag_bench.bin";
  static const bool written = (tag::Network::make({}, 1).save(file, "{}"), true);
  benchmark::DoNotOptimize(written);
  return file.string();
}

// Items per second are evaluations a second, best of the counters to read. `polish`: part of the
// evaluations for which the network is not asked.
void BM_TagSearch(benchmark::State& state, const Problem& (*problem)(), const char* polish,
                  double limit) {
  const PluginRegistry plugins;
  const auto planner = plugins.planner("tag");
  PlannerOptions options;
  options.iterations = 400;
  options.set = {{"weights", weights()}, {"polish", polish}};
  Observer nobody;
  std::int64_t evaluations = 0;
  for (auto _ : state) {
    state.PauseTiming();
    options.seed++;  // nothing is remembered from before
    state.ResumeTiming();
    evaluations += run_planner(*planner, problem(), options, nobody, {}).evaluations;
  }
  state.SetItemsProcessed(evaluations);
  state.counters["limit"] = limit;
}
BENCHMARK_CAPTURE(BM_TagSearch, vgg19, vgg19, "0.75", 300)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_TagSearch, vgg19_all_in_the_tree, vgg19, "0", 300)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_TagSearch, bert_large, bert_large, "0.75", 80)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_TagSearch, bert_large_all_in_the_tree, bert_large, "0", 80)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Items are queries.
void BM_TagNetwork(benchmark::State& state, const Problem& (*problem)()) {
  const tag::FeatureMaker maker(problem(), make_actions(problem(), {}));
  Strategy partial;
  partial.groups.resize(problem().grouping->size());
  const Score score = simulate_strategy(problem(), complete(partial, *problem().cluster)).score;
  const tag::StateFeatures features = maker.state({partial, GroupId(0), score});
  const std::vector<const tag::StateFeatures*> queries(static_cast<std::size_t>(state.range(0)),
                                                       &features);
  const tag::Network network = tag::Network::make({}, 1);
  for (auto _ : state) benchmark::DoNotOptimize(network.forward(*maker.problem(), queries));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(BM_TagNetwork, vgg19, vgg19)
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_TagNetwork, bert_large, bert_large)
    ->Arg(1)
    ->Arg(8)
    ->Arg(32)
    ->Unit(benchmark::kMillisecond);

void BM_TagFeatures(benchmark::State& state) {
  const tag::FeatureMaker maker(bert_large(), make_actions(bert_large(), {}));
  Strategy partial;
  partial.groups.resize(bert_large().grouping->size());
  const Score score =
      simulate_strategy(bert_large(), complete(partial, *bert_large().cluster)).score;
  for (auto _ : state) benchmark::DoNotOptimize(maker.state({partial, GroupId(0), score}));
}
BENCHMARK(BM_TagFeatures)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
