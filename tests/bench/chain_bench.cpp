// A chain of many ops, as programs that unroll their loops export them: from the graph to data
// parallelism on two GPUs, part by part. What a part costs has to grow as the ops do: prints the
// nanoseconds an op.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/graph/build/graph_builder.h"
#include "core/io/file.h"
#include "core/search/api/problem.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"

namespace strato {
namespace {

// MatMul, Add and Relu in turn.
Graph chain(std::int64_t ops) {
  constexpr std::int64_t kBatch = 64, kWidth = 64;
  const char* types[] = {"MatMul", "Add", "Relu"};
  GraphBuilder builder("chain", kBatch);
  TensorId last =
      builder.add_tensor({.name = "x", .role = TensorRole::Input, .shape = {kBatch, kWidth}});
  for (std::int64_t i = 0; i < ops; ++i) {
    const auto number = std::to_string(i);
    std::vector<TensorId> inputs = {last};
    if (i % 3 != 2)
      inputs.push_back(
          builder.add_tensor({.name = "weight_" + number,
                              .role = TensorRole::Parameter,
                              .shape = i % 3 == 0 ? Shape{kWidth, kWidth} : Shape{kWidth}}));
    last = builder.add_tensor({.name = "made_" + number, .shape = {kBatch, kWidth}});
    builder.add_op(
        {.name = "op_" + number, .type = types[i % 3], .inputs = inputs, .outputs = {last}});
  }
  return std::move(builder).build();
}

Problem problem_of(const Graph& graph) {
  return make_problem(
      graph,
      std::make_shared<const Cluster>(read_cluster(
          home_directory() / "sample_graphs/clusters/tag-2x1080ti.json", GpuCatalogue::bundled())),
      {});
}

void count_ops(benchmark::State& state) {
  state.counters["s_an_op"] = benchmark::Counter(
      static_cast<double>(state.range(0)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void BM_ChainGraph(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(chain(state.range(0)).op_count());
  count_ops(state);
}

void BM_ChainProblem(benchmark::State& state) {
  const Graph graph = chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(problem_of(graph).grouping->size());
  count_ops(state);
}

void BM_ChainSimulated(benchmark::State& state) {
  const Problem problem = problem_of(chain(state.range(0)));
  const Strategy strategy = data_parallel(problem);
  for (auto _ : state)
    benchmark::DoNotOptimize(simulate_outline(problem, strategy).score.step_time.value);
  count_ops(state);
}

void BM_ChainBound(benchmark::State& state) {
  const Problem problem = problem_of(chain(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(lower_bound(problem).value);
  count_ops(state);
}

void chain_sizes(benchmark::internal::Benchmark* of) {
  of->Arg(50'000)->Arg(200'000)->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_ChainGraph)->Apply(chain_sizes);
BENCHMARK(BM_ChainProblem)->Apply(chain_sizes);
BENCHMARK(BM_ChainSimulated)->Apply(chain_sizes);
BENCHMARK(BM_ChainBound)->Apply(chain_sizes);

}  // namespace
}  // namespace strato
