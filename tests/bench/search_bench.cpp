// Search trees of 50,000 vertices: what keeping, showing and replaying them costs. Limits that the
// program holds itself to: save 0.5 s and load 0.5 s, with the store's compression; a snapshot for
// the views is taken twice a second.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/tree_replay.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "core/search/tree/steer.h"
#include "core/store/workspace.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

constexpr std::size_t kVertices = 50'000;

// Rows of priors with the digits of a network's softmax: nothing that compresses well.
class NetworkLike final : public PriorProvider {
 public:
  std::vector<std::vector<float>> priors(const Problem&, const std::vector<Decision>& actions,
                                         std::span<const PriorQuery> queries) override {
    std::vector<std::vector<float>> rows(queries.size());
    for (auto& row : rows) {
      float sum = 0;
      for (std::size_t a = 0; a < actions.size(); ++a)
        sum += row.emplace_back(static_cast<float>(std::exp(3 * random_.uniform())));
      for (float& prior : row) prior /= sum;
    }
    return rows;
  }

 private:
  Random random_{7};
};

struct Searched {
  Problem problem = toy::chain_problem(toy::sample_cluster("tag-testbed"), 60);
  TreeSearchOptions options;
  std::shared_ptr<const SearchTree> tree;

  explicit Searched(bool network) {
    options.polish = 0;
    options.batch = 64;
    PlannerOptions common;
    common.iterations = kVertices;
    toy::FakeEvaluator evaluator(*problem.cluster, toy::separable);
    NetworkLike like;
    PriorProvider* const prior = network ? &like : nullptr;
    Observer nobody;
    tree = tree_search({problem, evaluator, common, nobody}, options, prior).tree;
  }
};

const Searched& searched(bool network) {
  static const Searched uniform(false), with_priors(true);
  return network ? with_priors : uniform;
}

void describe(benchmark::State& state, const SearchTree& tree) {
  state.counters["vertices"] = static_cast<double>(tree.vertices.size());
  state.counters["back_ups"] = static_cast<double>(tree.log.size());
}

// A workspace with one run, in a file of its own.
class Store {
 public:
  Store() {
    std::filesystem::remove(file_);
    workspace_ = std::make_unique<Workspace>(file_);
    StoredModel model;
    model.name = "toy";
    StoredCluster cluster;
    cluster.name = "toy";
    StoredRun run;
    run.model = workspace_->add(model);
    run.cluster = workspace_->add(cluster);
    run_ = workspace_->add(run);
  }
  ~Store() {
    workspace_.reset();
    std::filesystem::remove(file_);
  }
  void save(const SearchTree& tree) { workspace_->runs().save_tree(run_, serialise(tree)); }
  SearchTree load() const { return parse_search_tree(*workspace_->runs().tree(run_)); }

 private:
  std::filesystem::path file_ = std::filesystem::temp_directory_path() / "search_bench.strata";
  std::unique_ptr<Workspace> workspace_;
  RunRow run_ = 0;
};

void BM_SaveTree(benchmark::State& state, bool network) {
  const SearchTree& tree = *searched(network).tree;
  Store store;
  for (auto _ : state) store.save(tree);
  describe(state, tree);
  state.counters["bytes"] = static_cast<double>(serialise(tree).size());
}
BENCHMARK_CAPTURE(BM_SaveTree, uniform, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(BM_SaveTree, with_priors, true)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_LoadTree(benchmark::State& state, bool network) {
  Store store;
  store.save(*searched(network).tree);
  for (auto _ : state) benchmark::DoNotOptimize(store.load());
}
BENCHMARK_CAPTURE(BM_LoadTree, uniform, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(BM_LoadTree, with_priors, true)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_SnapshotOfRunningSearch(benchmark::State& state, bool network) {
  const Searched& s = searched(network);
  const ActionTable table(s.problem, s.options, 1, s.tree.get());
  GrowingTree tree(s.problem, table, s.options);
  tree.restore(*s.tree, 0);
  for (auto _ : state) benchmark::DoNotOptimize(tree.snapshot());
}
BENCHMARK_CAPTURE(BM_SnapshotOfRunningSearch, uniform, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_SnapshotOfRunningSearch, with_priors, true)->Unit(benchmark::kMillisecond);

void BM_ResumeTree(benchmark::State& state, bool network) {
  const Searched& s = searched(network);
  for (auto _ : state) {
    const ActionTable table(s.problem, s.options, 1, s.tree.get());
    GrowingTree tree(s.problem, table, s.options);
    tree.restore(*s.tree, 0);
    benchmark::DoNotOptimize(tree.select());
  }
}
BENCHMARK_CAPTURE(BM_ResumeTree, uniform, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_ResumeTree, with_priors, true)->Unit(benchmark::kMillisecond);

void BM_ReplayStep(benchmark::State& state) {
  TreeReplay replay(searched(false).tree);
  replay.seek(replay.steps() / 2);
  std::size_t step = replay.step();
  for (auto _ : state) replay.seek(step = step == replay.step() ? step + 1 : step - 1);
}
BENCHMARK(BM_ReplayStep);

void BM_ReplayToTheEndAndBack(benchmark::State& state) {
  TreeReplay replay(searched(false).tree);
  for (auto _ : state) {
    replay.seek(replay.steps());
    replay.seek(0);
  }
}
BENCHMARK(BM_ReplayToTheEndAndBack)->Unit(benchmark::kMillisecond);

void BM_PuctRows(benchmark::State& state) {
  const Searched& s = searched(false);
  TreeReplay replay(s.tree);
  replay.seek(replay.steps());
  for (auto _ : state) benchmark::DoNotOptimize(puct_rows(replay, 0, s.options));
}
BENCHMARK(BM_PuctRows)->Unit(benchmark::kMicrosecond);

void BM_CompareTrees(benchmark::State& state) {
  const SearchTree& tree = *searched(false).tree;
  for (auto _ : state) benchmark::DoNotOptimize(compare(tree, tree));
}
BENCHMARK(BM_CompareTrees)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strato
