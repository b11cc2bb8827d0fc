// One full lowering and simulation, the inner loop of every search: a synthetic training graph of
// BERT-Large's size (6,000 ops, 600 parameters, 60 groups) on 4 machines of 4 GPUs.
#include <benchmark/benchmark.h>

#include <numeric>

#include "core/base/random.h"
#include "tests/core/program/toy.h"

namespace strato {
namespace {

constexpr int kLayers = 2400, kGroups = 60, kDevices = 16;

// A deep chain with a parameter in every fourth layer; gradients read the saved activations.
std::shared_ptr<const Graph> deep_graph() {
  toy::Model model(64);
  std::vector<TensorId> x = {model.input("x", 8)}, w;
  std::vector<OpId> forward;
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i);
    w.push_back(i % 4 == 0 ? model.parameter("w" + n, 8) : TensorId());
    std::vector<TensorId> inputs = {x.back()};
    if (w.back().valid()) inputs.push_back(w.back());
    x.push_back(model.layer("f" + n, inputs, 8));
    forward.push_back(model.last());
  }
  TensorId gradient = model.seed("seed", x.back());
  for (std::size_t i = forward.size(); i-- > 0;) {
    const std::string n = std::to_string(i);
    if (w[i].valid())
      model.update("u" + n, w[i], model.gradient("gw" + n, forward[i], 1, gradient, {x[i]}));
    if (i > 0) gradient = model.gradient("gx" + n, forward[i], 0, gradient, {x[i]});
  }
  return std::move(model).build();
}

struct Setting {
  Setting() : graph(deep_graph()), cluster(toy::cluster(4, 4)) {
    std::vector<std::int32_t> group_of(graph->op_count());
    for (std::size_t i = 0; i < group_of.size(); ++i) group_of[i] = group(OpId(i));
    const std::vector<Nanos> times(graph->op_count(), Nanos(1000));
    grouping = std::make_shared<const Grouping>(*graph, group_of, times);
    cost = std::make_shared<toy::Costs>(graph, cluster);
  }
  // A layer's gradients and updates go with it.
  std::int32_t group(OpId id) const {
    const Op& op = graph->op(id);
    if (op.phase == Phase::Update) return group(graph->tensor(op.inputs[1]).producer);
    const std::size_t layer = op.forward.valid() ? op.forward.index() : id.index();
    return static_cast<std::int32_t>(std::min<std::size_t>(layer, kLayers - 1) * kGroups / kLayers);
  }
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const Grouping> grouping;
  std::shared_ptr<const CostModel> cost;
};

void run(benchmark::State& state, const std::vector<Strategy>& strategies, const Setting& setting) {
  Lowering lowering(setting.graph, setting.grouping, setting.cluster, setting.cost);
  Simulator simulator;
  std::size_t next = 0, tasks = 0;
  for (auto _ : state) {
    const auto program =
        std::make_shared<const Program>(lowering.lower(strategies[next++ % strategies.size()]));
    benchmark::DoNotOptimize(simulator.simulate(program).step_time);
    tasks = program->tasks.size();
  }
  state.counters["tasks"] = static_cast<double>(tasks);
}

const Setting& setting() {
  static const Setting only;
  return only;
}

void lower_and_simulate(benchmark::State& state, Mode mode) {
  std::vector<int> devices(kDevices);
  std::iota(devices.begin(), devices.end(), 0);
  Strategy strategy;
  strategy.groups.assign(setting().grouping->size(), toy::Bench::decision(mode, devices));
  run(state, {strategy}, setting());
}
BENCHMARK_CAPTURE(lower_and_simulate, all_reduce, Mode::ReplicateAllReduce)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lower_and_simulate, parameter_server, Mode::ReplicatePs)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lower_and_simulate, duplicate, Mode::Duplicate)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lower_and_simulate, model_parallel, Mode::ModelParallel)
    ->Unit(benchmark::kMillisecond);

void lower_and_simulate_random(benchmark::State& state) {
  Random random(1);
  std::vector<Strategy> strategies(32);
  for (Strategy& strategy : strategies)
    for (std::size_t g = 0; g < setting().grouping->size(); ++g) {
      std::vector<int> devices;
      for (int d = 0; d < kDevices; ++d)
        if (random.below(2) == 0) devices.push_back(d);
      if (devices.empty()) devices.push_back(0);
      strategy.groups.push_back(toy::Bench::decision(static_cast<Mode>(random.below(4)), devices));
    }
  run(state, strategies, setting());
}
BENCHMARK(lower_and_simulate_random)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
