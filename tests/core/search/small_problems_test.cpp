// Problems small enough to try every strategy: the search finds the optimum within a tenth of them.
#include <gtest/gtest.h>

#include <array>

#include "core/base/random.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/portfolio/tree_search.h"
#include "core/search/tree/search_tree.h"
#include "tests/core/search/toy.h"
#include "tests/message_of.h"
#include "tests/paths.h"

namespace strato {
namespace {

// A chain of products of unequal widths, trained, in at most `groups` groups; machines of one or
// two GPUs of several types behind network cards of several speeds.
Problem random_problem(int groups, int machines, std::uint64_t seed) {
  Random random(seed);
  const auto one_of = [&](auto... values) {
    const std::array all{values...};
    return all[random.below(all.size())];
  };
  std::string json = R"({"format": "stratoscope-cluster", "version": 1, "name": "random",
    "network": {"latency_us": 1}, "machines": [)";
  for (int m = 0; m < machines; ++m)
    json += std::string(m == 0 ? "" : ",") + R"({"name": "m)" + std::to_string(m) +
            R"(", "gpus": [{"type": ")" +
            one_of("V100-SXM2-32GB", "GTX-1080-Ti", "P100-PCIe-16GB") + R"(", "count": )" +
            std::to_string(machines == 2 ? one_of(1, 2) : 1) +
            R"(}], "fabric": {"bandwidth_GBps": 12, "latency_us": 4}, "nic": {"bandwidth_GBps": )" +
            std::to_string(one_of(1, 3, 10)) + R"(, "latency_us": 5}})";
  const auto cluster = std::make_shared<const Cluster>(
      parse_cluster(json + "]}", "random", GpuCatalogue::bundled()));
  std::vector<std::int64_t> widths;
  for (int layer = 0; layer <= 2 * groups; ++layer)
    widths.push_back(one_of(64, 512, 1024, 4096, 8192));
  ProblemOptions options;
  options.grouping.max_groups = groups;
  return make_problem(toy::chain(widths, one_of(32, 256, 2048)), cluster, options);
}

// Milliseconds of every group, a fixed scramble, and of every pair of neighbours that is decided
// differently.
Score entangled(const Strategy& strategy) {
  Score score = toy::separable(strategy);
  for (std::size_t g = 0; g + 1 < strategy.groups.size(); ++g)
    if (strategy.groups[GroupId(g)] != strategy.groups[GroupId(g + 1)])
      score.step_time += Nanos(150'000);
  return score;
}

struct Exhausted {
  std::int64_t strategies = 0;
  Score best;
};

// Every strategy over the actions that a search has for each group.
Exhausted try_all(const Problem& problem, Evaluator& evaluator) {
  const std::vector<Decision> actions = make_actions(problem, {});
  const std::size_t groups = problem.grouping->size();
  std::vector<std::size_t> digits(groups, 0);
  Exhausted result;
  std::vector<Strategy> batch;
  const auto flush = [&] {
    for (const Score& score : evaluator.evaluate(batch))
      if (result.strategies++ == 0 || score.better_than(result.best)) result.best = score;
    batch.clear();
  };
  for (bool more = true; more;) {
    Strategy strategy;
    bool legal = true;  // PS equals AllReduce where nothing is trained
    for (std::size_t g = 0; g < groups; ++g) {
      strategy.groups.emplace_back(actions[digits[g]]);
      legal = legal && (g == 0 || actions[digits[g]].mode != Mode::ReplicatePs ||
                        problem.grouping->group(GroupId(g)).parameter_bytes.value > 0);
    }
    if (legal) batch.push_back(std::move(strategy));
    if (batch.size() == 1024) flush();
    std::size_t g = 0;
    while (g < groups && ++digits[g] == actions.size()) digits[g++] = 0;
    more = g < groups;
  }
  flush();
  return result;
}

// Evaluations until the search has something as good as `best`; or -1 within `limit`.
std::int64_t evaluations_to(const Problem& problem, Evaluator& evaluator, const Score& best,
                            std::int64_t limit, std::uint64_t seed) {
  struct Watch : Observer {
    Score wanted;
    std::int64_t found = -1;
    std::stop_source stop;
    void on_improvement(const Strategy&, const Score& score, const Progress& progress) override {
      if (found >= 0 || wanted.better_than(score)) return;
      found = progress.evaluations;
      stop.request_stop();
    }
  } watch;
  watch.wanted = best;
  PlannerOptions options;
  options.iterations = limit;
  options.seed = seed;
  tree_search({problem, evaluator, options, watch, watch.stop.get_token()}, TreeSearchOptions());
  return watch.found <= limit ? watch.found : -1;
}

TEST(SmallProblems, optimum_of_an_entangled_landscape_within_a_tenth_of_the_space) {
  for (const auto& [groups, devices] : {std::pair{4, 2}, {3, 3}, {4, 3}}) {
    const Problem problem = toy::chain_problem(toy::small_cluster(1, devices - 1), groups);
    toy::FakeEvaluator evaluator(*problem.cluster, entangled);
    const Exhausted all = try_all(problem, evaluator);
    for (std::uint64_t seed : {1, 2, 3})
      EXPECT_GT(evaluations_to(problem, evaluator, all.best, all.strategies / 10, seed), 0)
          << groups << " groups, " << devices << " devices, seed " << seed;
  }
}

// Some optima are needles: three groups decided in three other ways at once, for a gain of a
// percent or two. Their bounds tell them from most others.
TEST(SmallProblems, optimum_of_the_simulator_within_a_tenth_of_the_space) {
  int searches = 0, found = 0;
  for (std::uint64_t number = 1; number <= (kSanitized ? 6 : 24); ++number) {
    const bool two_machines = number % 2 == 0;
    const Problem problem = random_problem(two_machines ? 3 : 2, two_machines ? 2 : 3, number);
    const auto simulating = make_simulating_evaluator(problem, 1);
    const auto evaluator = make_caching_evaluator(*simulating);
    const Exhausted all = try_all(problem, *simulating);
    for (std::uint64_t seed : {1, 2}) {
      const std::int64_t tenth = all.strategies / 10;
      const std::int64_t needed = evaluations_to(problem, *evaluator, all.best, tenth, seed);
      EXPECT_GT(needed, 0) << "problem " << number << " seed " << seed << " space "
                           << all.strategies;
      ++searches;
      found += needed > 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(found, searches);
}

// A place behind the last strategy would say that all of them were looked at.
TEST(SmallProblems, a_stored_place_is_one_of_the_space) {
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 1), 3);
  toy::FakeEvaluator evaluator(*problem.cluster, toy::separable);
  PlannerOptions options;
  options.iterations = 60;
  Observer nobody;
  const auto search = [&](const std::shared_ptr<const SearchTree>& from) {
    return tree_search({problem, evaluator, options, nobody, {}, from}, TreeSearchOptions());
  };
  const auto first = search(nullptr).tree;
  const auto resumed_at = [&](std::int64_t place) {
    SearchTree tree = *first;
    tree.state.space_next = static_cast<std::uint64_t>(place);
    return message_of([&] { search(std::make_shared<const SearchTree>(tree)); });
  };
  const auto actions = static_cast<std::int64_t>(make_actions(problem, {}).size());
  const std::int64_t all = actions * actions * actions;  // every group is trained
  EXPECT_EQ(resumed_at(all), "no error");
  for (const std::int64_t place : {all + 1, std::int64_t{1} << 36})
    EXPECT_NE(resumed_at(place).find("more strategies than there are"), std::string::npos) << place;
}

}  // namespace
}  // namespace strato
