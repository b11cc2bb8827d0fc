// What list schedulers are made of, on training graphs of 36,000 ops (the Transformer of Celeritas,
// Table 2) and of 100,000. Everything is to be linear: the counter "per_op" stays the same.
#include <benchmark/benchmark.h>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"
#include "tests/bench/synthetic_graph.h"

namespace strato {
namespace {

struct ScheduleSetting {
  Problem problem;
  Dag dag;
  TransferTimes transfers;
  Weights weights;
  std::vector<NodeIndex> order;
  explicit ScheduleSetting(Problem problem_)
      : problem(std::move(problem_)),
        dag(dag_of(problem)),
        transfers(dag, *problem.cluster, *problem.cost),
        weights(longest_weights(dag, transfers)),
        order(cpd_topo(dag, weights)) {}
};

// 36,000 or 100,000 ops on 4 GPUs.
const ScheduleSetting& schedule_setting(std::int64_t ops) {
  const auto make = [](std::size_t count) {
    Problem problem;
    problem.graph = synthetic::training_graph(count);
    problem.cluster = toy::cluster(2, 2);
    problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
    return ScheduleSetting(std::move(problem));
  };
  static const ScheduleSetting few = make(36'000);
  if (ops <= 36'000) return few;
  static const ScheduleSetting many = make(100'000);
  return many;
}

void describe_dag(benchmark::State& state, const Dag& dag) {
  state.counters["ops"] = static_cast<double>(dag.size());
  state.counters["edges"] = static_cast<double>(dag.edge_count());
  state.counters["per_op"] = benchmark::Counter(
      static_cast<double>(dag.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// `work` on the schedule_setting, again and again.
template <class Work>
void measure_schedule(benchmark::State& state, Work work) {
  const ScheduleSetting& s = schedule_setting(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(work(s));
  describe_dag(state, s.dag);
}

void BM_DagOf(benchmark::State& state) {
  measure_schedule(state, [](const ScheduleSetting& s) { return dag_of(s.problem); });
}
void BM_TransferTimes(benchmark::State& state) {
  measure_schedule(state, [](const ScheduleSetting& s) {
    return TransferTimes(s.dag, *s.problem.cluster, *s.problem.cost);
  });
}
void BM_Contract(benchmark::State& state) {  // into pieces of 100 along the order of the ops
  measure_schedule(state, [](const ScheduleSetting& s) {
    std::vector<std::int32_t> cluster_of(s.dag.size());
    for (std::size_t i = 0; i < cluster_of.size(); ++i)
      cluster_of[i] = static_cast<std::int32_t>(i / 100);
    return contract(s.dag, cluster_of);
  });
}
void BM_BLevels(benchmark::State& state) {
  measure_schedule(state, [](const ScheduleSetting& s) { return b_levels(s.dag, s.weights); });
}
void BM_CpdTopo(benchmark::State& state) {
  measure_schedule(state, [](const ScheduleSetting& s) { return cpd_topo(s.dag, s.weights); });
}

// Every node where it finishes first.
void BM_EarliestFinish(benchmark::State& state, Scheduling::Options options) {
  measure_schedule(state, [&](const ScheduleSetting& s) {
    Scheduling scheduling(s.dag, s.transfers, *s.problem.cluster, options);
    for (const NodeIndex node : s.order) {
      DeviceId best;
      Nanos least = Nanos::max();
      for (std::size_t d = 0; d < s.problem.cluster->device_count(); ++d) {
        if (!scheduling.has_room(node, DeviceId(d))) continue;
        const Nanos finish = scheduling.earliest_finish(node, DeviceId(d));
        if (finish < least) best = DeviceId(d), least = finish;
      }
      scheduling.place(node, best.valid() ? best : scheduling.emptiest());
    }
    return std::move(scheduling).finished();
  });
}

#define STRATO_BENCHMARK(...) __VA_ARGS__->Arg(36'000)->Arg(100'000)->Unit(benchmark::kMillisecond)
STRATO_BENCHMARK(BENCHMARK(BM_DagOf));
STRATO_BENCHMARK(BENCHMARK(BM_TransferTimes));
STRATO_BENCHMARK(BENCHMARK(BM_Contract));
STRATO_BENCHMARK(BENCHMARK(BM_BLevels));
STRATO_BENCHMARK(BENCHMARK(BM_CpdTopo));
STRATO_BENCHMARK(BENCHMARK_CAPTURE(BM_EarliestFinish, insertion, Scheduling::Options{}));
STRATO_BENCHMARK(BENCHMARK_CAPTURE(BM_EarliestFinish, append,
                                   Scheduling::Options{.insert = false}));
STRATO_BENCHMARK(BENCHMARK_CAPTURE(BM_EarliestFinish, streams,
                                   Scheduling::Options{.transfers_are_tasks = true}));
#undef STRATO_BENCHMARK

}  // namespace
}  // namespace strato
