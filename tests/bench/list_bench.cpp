// List schedulers from a problem to a schedule on training graphs of 36,000 and 100,000 ops and 4
// equal GPUs: m-ETF (limit 0.5 s for 100,000), m-SCT (limit 5 s), HEFT; and the same m-ETF in
// Python on a networkx graph, for scale.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/cost/analytic/analytic_cost_model.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "plugins/planners/baselines/heft.h"
#include "plugins/planners/list/baechi/earliest_task_first.h"
#include "tests/bench/synthetic_graph.h"
#include "tests/paths.h"

namespace strato {
namespace {

const Problem& list_problem_of(std::int64_t ops) {
  const auto make = [](std::size_t count) {
    Problem problem;
    problem.graph = synthetic::training_graph(count);
    problem.cluster = toy::cluster(1, 4);
    problem.cost = make_analytic_cost_model(problem.graph, problem.cluster);
    return problem;
  };
  static const Problem few = make(36'000);
  if (ops <= 36'000) return few;
  static const Problem many = make(100'000);
  return many;
}

struct Ready {
  Dag dag;
  TransferTimes transfers;
  Weights weights;
  explicit Ready(const Problem& problem)
      : dag(dag_of(problem)),
        transfers(dag, *problem.cluster, *problem.cost),
        weights(mean_weights(dag, *problem.cluster, transfers)) {}
};

Schedule m_etf(const Ready& ready, const Cluster& cluster) {
  return baechi::earliest_task_first(ready.dag, ready.transfers, cluster, 1,
                                     b_levels(ready.dag, ready.weights), nullptr);
}

template <class Work>
void measure(benchmark::State& state, Work work) {
  const Problem& problem = list_problem_of(state.range(0));
  Nanos makespan;
  for (auto _ : state) makespan = work(Ready(problem), *problem.cluster).makespan;
  state.counters["ops"] = static_cast<double>(problem.graph->op_count());
  state.counters["makespan_ms"] = to_seconds(makespan) * 1e3;
}

void BM_MEtf(benchmark::State& state) { measure(state, m_etf); }
void BM_Heft(benchmark::State& state) {
  measure(state, [](const Ready& ready, const Cluster& cluster) {
    return heft::schedule(ready.dag, ready.transfers, cluster, 1);
  });
}
void m_sct(benchmark::State& state, const baechi::FavouriteOptions& options) {
  measure(state, [&](const Ready& ready, const Cluster& cluster) {
    const auto favourites = baechi::find_favourites(ready.dag, ready.weights, options);
    state.counters["programs"] = favourites.programs;
    return baechi::earliest_task_first(ready.dag, ready.transfers, cluster, 1,
                                       b_levels(ready.dag, ready.weights), &favourites);
  });
}
void BM_MSct(benchmark::State& state) { m_sct(state, {}); }
void BM_MSctGreedy(benchmark::State& state) { m_sct(state, {0.5, 0}); }

void write_edges(const Ready& ready, const Cluster& cluster, const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "devices " << cluster.device_count() << '\n';
  for (std::size_t i = 0; i < ready.dag.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    out << "node " << ready.weights.node[i].value << ' ' << ready.dag.colocation(node) << '\n';
  }
  for (std::size_t i = 0; i < ready.dag.size(); ++i)
    for (const DagEdge& edge : ready.dag.successors(static_cast<NodeIndex>(i)))
      out << "edge " << i << ' ' << edge.node << ' '
          << ready.weights.edge[static_cast<std::size_t>(edge.edge)].value << '\n';
}

// "SECONDS MAKESPAN" of the script; nothing where Python or networkx is missing.
std::string run_python(const std::filesystem::path& edges) {
  const std::string command = "python3 '" + std::string(kSourceFolder) +
                              "/tests/bench/m_etf_networkx.py' '" + edges.string() +
                              "' 2>/dev/null";
  std::string text;
  if (FILE* pipe = popen(command.c_str(), "r")) {
    for (char buffer[256]; std::fgets(buffer, sizeof buffer, pipe) != nullptr;) text += buffer;
    pclose(pipe);
  }
  return text;
}

void BM_MEtfInPython(benchmark::State& state) {
  const Problem& problem = list_problem_of(state.range(0));
  const auto file = std::filesystem::temp_directory_path() /
                    ("stratoscope-edges-" + std::to_string(getpid()) + ".txt");
  write_edges(Ready(problem), *problem.cluster, file);
  double seconds = 0;
  long long makespan = 0;
  for (auto _ : state) {
    if (std::sscanf(run_python(file).c_str(), "%lf %lld", &seconds, &makespan) != 2) {
      state.SkipWithError("python3-networkx is not installed");
      break;
    }
    state.SetIterationTime(seconds);
  }
  std::filesystem::remove(file);
  state.counters["ops"] = static_cast<double>(problem.graph->op_count());
  state.counters["makespan_ms"] = static_cast<double>(makespan) * 1e-6;
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(36'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_MEtf)->Apply(sizes);
BENCHMARK(BM_MSct)->Apply(sizes);
BENCHMARK(BM_MSctGreedy)->Apply(sizes);
BENCHMARK(BM_Heft)->Apply(sizes);
BENCHMARK(BM_MEtfInPython)->Apply(sizes)->Iterations(1)->UseManualTime();

}  // namespace
}  // namespace strato
