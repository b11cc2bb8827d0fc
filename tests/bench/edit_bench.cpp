// An edit to its outcome, as the window has it: a group of data parallelism is told something else
// at random, and the whole outcome (program, timeline, memory, feedback) is made of it. Prints the
// 95th percentile beside its limit, and the same for what is shown before the edit is made (the
// step time and memory alone, by delta simulation).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/engine/delta.h"

namespace strato {
namespace {

Problem sample_problem(const char* model, std::int64_t batch) {
  static const PluginRegistry plugins;
  const auto home = home_directory();
  const auto file = home / "sample_graphs/models" / (std::string(model) + ".onnx");
  ImportOptions options;
  options.batch = batch;
  const auto cluster = std::make_shared<const Cluster>(
      read_cluster(home / "sample_graphs/clusters/tag-testbed.json", GpuCatalogue::bundled()));
  return make_problem(plugins.importer_for(file)->import(file, options), cluster, {});
}

double thread_seconds() {  // of this thread alone: others may compile
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double percentile_95(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(0.95 * static_cast<double>(values.size() - 1))];
}

Strategy edited(const Problem& problem, const Strategy& base, Random& random) {
  Strategy strategy = base;
  std::vector<DeviceGroupId> groups;
  while (groups.empty())
    for (std::size_t i = 0; i < problem.cluster->groups().size(); ++i)
      if (random.below(2) == 0) groups.push_back(DeviceGroupId(i));
  strategy.groups[GroupId(random.below(strategy.groups.size()))] =
      decision_on_groups(*problem.cluster, groups, static_cast<Mode>(random.below(4)));
  return strategy;
}

void BM_EditToOutcome(benchmark::State& state, const char* model, std::int64_t batch,
                      double limit_ms) {
  const Problem problem = sample_problem(model, batch);
  const CompleteStrategy base(data_parallel(problem), *problem.cluster);
  DeltaEvaluator delta(problem.graph, problem.grouping, problem.cluster, problem.cost);
  delta.evaluate(base);
  Random random(1);
  std::vector<double> outcomes, previews;
  for (auto _ : state) {
    for (int i = 0; i < 100; ++i) {
      const CompleteStrategy strategy(edited(problem, *base, random), *problem.cluster);
      const double begin = thread_seconds();
      const Nanos told = delta.evaluate(strategy).step_time;
      const double middle = thread_seconds();
      const Outcome outcome = simulate_strategy(problem, *strategy);
      outcomes.push_back(1e3 * (thread_seconds() - middle));
      previews.push_back(1e3 * (middle - begin));
      if (outcome.timeline->step_time != told) state.SkipWithError("the preview differs");
      delta.evaluate(base);
    }
  }
  state.counters["outcome p95 ms"] = percentile_95(outcomes);
  state.counters["limit ms"] = limit_ms;
  state.counters["preview p95 ms"] = percentile_95(previews);
}
BENCHMARK_CAPTURE(BM_EditToOutcome, VGG19, "vgg19", 96, 16.0)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_EditToOutcome, BERT_Large_16_GPUs, "bert_large", 16, 60.0)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
