// A delta after one group's change against a full run (lower, simulate, feedback), in one run:
// BERT-Large, 60 groups, 16 GPUs, every group changed once at random. Prints the ratio beside its
// limit, 0.2: median, 90th percentile, and medians by the group's place along the graph.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/program/lower/lower.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/run/run_planner.h"
#include "core/sim/engine/delta.h"
#include "core/sim/timeline/feedback.h"

namespace strato {
namespace {

const PluginRegistry& plugins() {
  static const PluginRegistry only;
  return only;
}

const Problem& bert() {
  static const Problem problem = [] {
    const auto home = home_directory();
    const auto file = home / "sample_graphs/models/bert_large.onnx";
    ImportOptions options;
    options.batch = 16;
    const auto cluster = std::make_shared<const Cluster>(
        read_cluster(home / "sample_graphs/clusters/tag-testbed.json", GpuCatalogue::bundled()));
    return make_problem(plugins().importer_for(file)->import(file, options), cluster, {});
  }();
  return problem;
}

Strategy searched() {
  PlannerOptions options;
  options.iterations = 300;
  options.threads = 1;
  Observer nobody;
  return run_planner(*plugins().planner("mcts"), bert(), options, nobody, {}).strategy;
}

Decision random_decision(Random& random) {
  const Cluster& cluster = *bert().cluster;
  std::vector<DeviceGroupId> groups;
  while (groups.empty())
    for (std::size_t i = 0; i < cluster.groups().size(); ++i)
      if (random.below(2) == 0) groups.push_back(DeviceGroupId(i));
  return decision_on_groups(cluster, groups, static_cast<Mode>(random.below(4)));
}

double now() {  // of this thread alone: others may compile
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1))];
}

// The simulating side is kept as lean as an evaluator's: arrays are reused.
class FullRun {
 public:
  Nanos operator()(const CompleteStrategy& strategy) {
    lowering_.lower(strategy, *program_);
    simulator_.simulate(program_, {}, timeline_);
    benchmark::DoNotOptimize(feedback(timeline_, *bert().grouping).groups.size());
    return timeline_.step_time;
  }

 private:
  Lowering lowering_{bert().graph, bert().grouping, bert().cluster, bert().cost};
  Simulator simulator_;
  std::shared_ptr<Program> program_ = std::make_shared<Program>();
  Timeline timeline_;
};

void BM_Delta(benchmark::State& state, Strategy (*make_base)()) {
  const Problem& problem = bert();
  const CompleteStrategy base(make_base(), *problem.cluster);
  FullRun full;
  DeltaEvaluator delta(problem.graph, problem.grouping, problem.cluster, problem.cost);
  Random random(1);
  std::vector<double> ratios, by_place[3];
  const std::size_t groups = problem.grouping->size();
  std::vector<OpId> first;  // op of each group, for its place along the graph
  for (const OpGroup& group : problem.grouping->groups()) first.push_back(group.ops.front());
  std::vector<OpId> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  delta.evaluate(base);
  for (auto _ : state)
    for (std::size_t g = 0; g < groups; ++g) {
      Strategy with_edit = *base;
      with_edit.groups[GroupId(g)] = random_decision(random);
      const CompleteStrategy edited(with_edit, *problem.cluster);
      const double start = now();
      const Nanos expected = full(edited);
      const double middle = now();
      const Nanos step_time = delta.evaluate(edited).step_time;
      benchmark::DoNotOptimize(delta.feedback().groups.size());
      const double end = now();
      if (step_time != expected) state.SkipWithError("the delta differs");
      ratios.push_back((end - middle) / (middle - start));
      const auto place = std::lower_bound(sorted.begin(), sorted.end(), first[g]) - sorted.begin();
      by_place[static_cast<std::size_t>(place) * 3 / groups].push_back(ratios.back());
      delta.evaluate(base);
    }
  state.counters["limit"] = 0.2;
  state.counters["median"] = quantile(ratios, 0.5);
  state.counters["p90"] = quantile(ratios, 0.9);
  state.counters["early"] = quantile(by_place[0], 0.5);
  state.counters["middle"] = quantile(by_place[1], 0.5);
  state.counters["late"] = quantile(by_place[2], 0.5);
}
BENCHMARK_CAPTURE(BM_Delta, allreduce, [] {
  return data_parallel(bert(), Mode::ReplicateAllReduce);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Delta, ps, [] {
  return data_parallel(bert(), Mode::ReplicatePs);
})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Delta, searched, searched)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
