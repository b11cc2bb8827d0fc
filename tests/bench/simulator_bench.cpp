// The simulator against a bare event loop, and evaluations a second: each figure beside its limit
// (counter "limit"; a speed is not a verdict, so nothing fails).
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <time.h>

#include <chrono>
#include <map>
#include <numeric>

#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "core/program/lower/lower.h"
#include "core/search/api/evaluator.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/sim/timeline/feedback.h"
#include "tests/bench/bare_loop.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

// Of this thread: other programs on the machine do not count.
double cpu_nanos() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Random modes and devices, as the leaves of a young search tree have.
Strategy random_strategy(std::size_t groups, std::size_t devices, Random& random) {
  Strategy strategy;
  for (std::size_t g = 0; g < groups; ++g) {
    Decision decision{static_cast<Mode>(random.below(4)), {}};
    for (std::size_t d = 0; d < devices; ++d)
      if (random.below(2) == 0) decision.devices.push_back({DeviceId(d), 1});
    if (decision.devices.empty()) decision = decision_on_device(DeviceId(0));
    strategy.groups.push_back(decision);
  }
  return strategy;
}

// ---- Per task, beside the bare loop ------------------------------------------------------------

enum class Kind { DataParallel, Visited, Random };

// A training chain in ten groups, lowered for 16 devices (of a million tasks: 64).
std::shared_ptr<const Program> chain_program(int layers, int machines, Kind kind) {
  const auto graph = toy::training_chain(256, layers, 64);
  const auto cluster = toy::cluster(machines, 4);
  std::vector<std::int32_t> group_of(graph->op_count());
  for (std::size_t i = 0; i < group_of.size(); ++i)
    group_of[i] = static_cast<std::int32_t>(i * 10 / group_of.size());
  const std::vector<Nanos> times(graph->op_count(), Nanos(1000));
  const auto grouping = std::make_shared<const Grouping>(*graph, group_of, times);
  Lowering lowering(graph, grouping, cluster, std::make_shared<toy::Costs>(graph, cluster));
  Random random(1);
  Strategy strategy = random_strategy(grouping->size(), cluster->device_count(), random);
  if (kind == Kind::DataParallel)
    strategy.groups.assign(grouping->size(),
                           data_parallel({graph, grouping, cluster, nullptr}).groups[GroupId(0)]);
  return std::make_shared<const Program>(lowering.lower(strategy));
}

// One after the other within every iteration, so that a noisy machine disturbs both alike.
void BM_SimulateBesideBareLoop(benchmark::State& state, Kind kind) {
  const auto program =
      chain_program(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), kind);
  bench::BareLoop bare(*program);
  Simulator simulator;
  Timeline timeline;
  double bare_time = 0, full_time = 0;
  simulator.simulate(program, {}, timeline);  // both have their arrays before the clock runs
  for (auto _ : state) {
    const double begin = cpu_nanos();
    benchmark::DoNotOptimize(bare.run());
    const double middle = cpu_nanos();
    simulator.simulate(program, {}, timeline);
    bare_time += middle - begin;
    full_time += cpu_nanos() - middle;
  }
  const auto tasks = static_cast<double>(program->tasks.size());
  const double runs = tasks * static_cast<double>(state.iterations());
  state.counters["tasks"] = tasks;
  state.counters["bare_ns_per_task"] = bare_time / runs;
  state.counters["ns_per_task"] = full_time / runs;
  state.counters["times_bare"] = full_time / bare_time;
  state.counters["limit"] = 2.5;
}
BENCHMARK_CAPTURE(BM_SimulateBesideBareLoop, data_parallel, Kind::DataParallel)
    ->Args({30, 4})
    ->Args({500, 4})
    ->Args({3600, 16})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_SimulateBesideBareLoop, random, Kind::Random)
    ->Args({30, 4})
    ->Args({500, 4})
    ->Args({3600, 16})
    ->Unit(benchmark::kMicrosecond);

// The other ways to simulate: no limit is set for them, but 35,000 tasks must stay usable.
void BM_SimulateOtherwise(benchmark::State& state, Kind kind, SimulateOptions options) {
  auto program = std::make_shared<Program>(*chain_program(500, 4, kind));
  Random random(1);
  for (Task& task : program->tasks) {
    task.priority = static_cast<std::int32_t>(random.below(100));
    task.latency = std::min(task.latency, task.duration / 2);
  }
  Simulator simulator;
  Timeline timeline;
  double time = 0;
  for (auto _ : state) {
    const double begin = cpu_nanos();
    simulator.simulate(program, options, timeline);
    time += cpu_nanos() - begin;
  }
  const auto tasks = static_cast<double>(program->tasks.size());
  state.counters["tasks"] = tasks;
  state.counters["ns_per_task"] = time / (tasks * static_cast<double>(state.iterations()));
}
BENCHMARK_CAPTURE(BM_SimulateOtherwise, priorities_data_parallel, Kind::DataParallel,
                  SimulateOptions{true, false})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_SimulateOtherwise, priorities_random, Kind::Random,
                  SimulateOptions{true, false})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_SimulateOtherwise, fair_data_parallel, Kind::DataParallel,
                  SimulateOptions{false, true})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_SimulateOtherwise, fair_random, Kind::Random, SimulateOptions{false, true})
    ->Unit(benchmark::kMillisecond);

// ---- Evaluations a second ----------------------------------------------------------------------

enum class Model { Vgg19, BertLarge };

const Problem& on_testbed(Model model) {
  static const PluginRegistry plugins;
  static std::map<Model, Problem> problems;
  if (const auto at = problems.find(model); at != problems.end()) return at->second;
  const char* name = model == Model::Vgg19 ? "vgg19" : "bert_large";
  const auto file = home_directory() / "sample_graphs/models" / (std::string(name) + ".onnx");
  ImportOptions options;
  options.batch = model == Model::Vgg19 ? 96 : 16;
  const auto cluster = std::make_shared<const Cluster>(read_cluster(
      home_directory() / "sample_graphs/clusters/tag-testbed.json", GpuCatalogue::bundled()));
  return problems
      .emplace(model, make_problem(plugins.importer_for(file)->import(file, options), cluster, {}))
      .first->second;
}

class Recorder final : public Evaluator {
 public:
  explicit Recorder(Evaluator& inner) : Evaluator(inner.cluster()), inner_(inner) {}
  std::vector<Score> score(std::span<const CompleteStrategy> strategies) override {
    for (const CompleteStrategy& strategy : strategies) seen.push_back(*strategy);
    return inner_.score(strategies);
  }
  std::vector<Strategy> seen;

 private:
  Evaluator& inner_;
};

// What the tree search asks for, in its order.
std::vector<Strategy> visited_strategies(const Problem& problem, std::int64_t iterations) {
  const PluginRegistry plugins;
  const auto simulating = make_simulating_evaluator(problem, 0);
  Recorder recorder(*simulating);
  PlannerOptions options;
  options.iterations = iterations;
  Observer nobody;
  plugins.planner("mcts")->plan(problem, recorder, options, nobody, {}, nullptr);
  return std::move(recorder.seen);
}

std::vector<Strategy> strategies_for(const Problem& problem, Kind kind) {
  if (kind == Kind::Visited) return visited_strategies(problem, 200);
  if (kind == Kind::DataParallel) return {data_parallel(problem)};
  Random random(1);
  std::vector<Strategy> strategies;
  for (int i = 0; i < 32; ++i)
    strategies.push_back(
        random_strategy(problem.grouping->size(), problem.cluster->device_count(), random));
  return strategies;
}

// Lower, simulate, feedback on one core, every strategy in full; and how the time divides.
void BM_EvaluateInFull(benchmark::State& state, Model model, Kind kind) {
  const Problem& problem = on_testbed(model);
  std::vector<CompleteStrategy> strategies;
  for (const Strategy& strategy : strategies_for(problem, kind))
    strategies.emplace_back(strategy, *problem.cluster);
  Lowering lowering(problem.graph, problem.grouping, problem.cluster, problem.cost);
  Simulator simulator;
  Timeline timeline;
  const auto program = std::make_shared<Program>();
  double lower_time = 0, simulate_time = 0, feedback_time = 0, tasks = 0;
  std::size_t next = 0;
  for (auto _ : state) {
    const double begin = cpu_nanos();
    lowering.lower(strategies[next++ % strategies.size()], *program);
    const double lowered = cpu_nanos();
    simulator.simulate(program, {}, timeline);
    const double simulated = cpu_nanos();
    benchmark::DoNotOptimize(feedback(timeline, *problem.grouping));
    lower_time += lowered - begin;
    simulate_time += simulated - lowered;
    feedback_time += cpu_nanos() - simulated;
    tasks += static_cast<double>(timeline.tasks.size());
  }
  const auto count = static_cast<double>(state.iterations());
  state.counters["evaluations_per_s"] =
      count / ((lower_time + simulate_time + feedback_time) * 1e-9);
  state.counters["tasks"] = tasks / count;
  state.counters["lower_ns_per_task"] = lower_time / tasks;
  state.counters["simulate_ns_per_task"] = simulate_time / tasks;
  state.counters["feedback_ns_per_task"] = feedback_time / tasks;
  state.counters["lower_over_simulate"] = lower_time / simulate_time;
  state.counters["limit"] = 1;
}
BENCHMARK_CAPTURE(BM_EvaluateInFull, vgg19_data_parallel, Model::Vgg19, Kind::DataParallel);
BENCHMARK_CAPTURE(BM_EvaluateInFull, vgg19_visited, Model::Vgg19, Kind::Visited);
BENCHMARK_CAPTURE(BM_EvaluateInFull, vgg19_random, Model::Vgg19, Kind::Random);
BENCHMARK_CAPTURE(BM_EvaluateInFull, bert_large_data_parallel, Model::BertLarge,
                  Kind::DataParallel);
BENCHMARK_CAPTURE(BM_EvaluateInFull, bert_large_visited, Model::BertLarge, Kind::Visited);
BENCHMARK_CAPTURE(BM_EvaluateInFull, bert_large_random, Model::BertLarge, Kind::Random);

// The same with feedback through the evaluator that planners use, on one thread: alike devices are
// folded, neighbours take the delta path.
void BM_Evaluator(benchmark::State& state, Model model, Kind kind, double limit) {
  const Problem& problem = on_testbed(model);
  const std::vector<Strategy> strategies = strategies_for(problem, kind);
  const auto evaluator = make_simulating_evaluator(problem, 1, true);
  std::size_t next = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(evaluator->evaluate(strategies[next++ % strategies.size()]));
  state.SetItemsProcessed(state.iterations());
  state.counters["limit"] = limit;
}
BENCHMARK_CAPTURE(BM_Evaluator, vgg19_data_parallel, Model::Vgg19, Kind::DataParallel, 1000.0);
BENCHMARK_CAPTURE(BM_Evaluator, vgg19_visited, Model::Vgg19, Kind::Visited, 1000.0);
BENCHMARK_CAPTURE(BM_Evaluator, vgg19_random, Model::Vgg19, Kind::Random, 1000.0);
BENCHMARK_CAPTURE(BM_Evaluator, bert_large_data_parallel, Model::BertLarge, Kind::DataParallel,
                  200.0);
BENCHMARK_CAPTURE(BM_Evaluator, bert_large_visited, Model::BertLarge, Kind::Visited, 200.0);
BENCHMARK_CAPTURE(BM_Evaluator, bert_large_random, Model::BertLarge, Kind::Random, 200.0);

// The evaluator that planners use, on one thread and on two: wall time, so an idle machine is
// needed.
void BM_EvaluatorScaling(benchmark::State& state) {
  const Problem& problem = on_testbed(Model::Vgg19);
  const auto strategies = visited_strategies(problem, 200);
  const auto one = make_simulating_evaluator(problem, 1, true);
  const auto two = make_simulating_evaluator(problem, 2, true);
  double alone = 0, together = 0;
  const auto wall = [&](Evaluator& evaluator) {
    const auto begin = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(evaluator.evaluate(strategies));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (auto _ : state) {
    alone += wall(*one);
    together += wall(*two);
  }
  state.counters["speedup_of_two_threads"] = alone / together;
  state.counters["limit"] = 2;
}
BENCHMARK(BM_EvaluatorScaling)->Unit(benchmark::kMillisecond)->UseRealTime();

// ---- Memory ------------------------------------------------------------------------------------

// 100,000 ops on 64 devices: the process's peak, which the benchmarks before it may have raised.
// Run it alone with --benchmark_filter=Huge.
void BM_HugeGraph(benchmark::State& state) {
  std::size_t tasks = 0, ops = 0;
  for (auto _ : state) {
    const auto program = chain_program(25'000, 16, Kind::DataParallel);
    Simulator simulator;
    benchmark::DoNotOptimize(simulator.simulate(program).step_time);
    tasks = program->tasks.size();
    ops = program->graph->op_count();
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  state.counters["ops"] = static_cast<double>(ops);
  state.counters["tasks"] = static_cast<double>(tasks);
  state.counters["peak_GB"] = static_cast<double>(usage.ru_maxrss) * 1024e-9;
  state.counters["limit"] = 2;
}
BENCHMARK(BM_HugeGraph)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace strato
