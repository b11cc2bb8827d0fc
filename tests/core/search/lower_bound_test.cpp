#include "core/search/evaluate/lower_bound.h"

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"
#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

Problem trained_chain(std::shared_ptr<const Cluster> cluster, int layers, std::int64_t batch,
                      std::int64_t width, int groups) {
  ProblemOptions options;
  options.grouping.max_groups = groups;
  return make_problem(toy::chain(layers, batch, width), std::move(cluster), options);
}

// Every strategy over the unmerged actions, counted up like an odometer.
void expect_no_strategy_beats_the_bound(const Problem& problem) {
  ActionOptions everything;
  everything.merge_symmetric = false;
  const std::vector<Decision> actions = make_actions(problem, everything);
  const Nanos bound = lower_bound(problem);
  EXPECT_GT(bound.value, 0);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  std::vector<std::size_t> digits(problem.grouping->size(), 0);
  Nanos best = Nanos::max();
  for (bool more = true; more;) {
    std::vector<Strategy> batch;
    while (more && batch.size() < 64) {
      batch.emplace_back();
      for (std::size_t digit : digits) batch.back().groups.emplace_back(actions[digit]);
      std::size_t place = 0;
      while (place < digits.size() && ++digits[place] == actions.size()) digits[place++] = 0;
      more = place < digits.size();
    }
    for (const Score& score : evaluator->evaluate(batch)) best = std::min(best, score.step_time);
  }
  EXPECT_GE(best, bound);
}

TEST(LowerBound, no_strategy_of_a_tiny_problem_beats_it) {
  expect_no_strategy_beats_the_bound(trained_chain(toy::small_cluster(2, 1), 2, 8, 64, 2));
  expect_no_strategy_beats_the_bound(trained_chain(toy::small_cluster(2, 1), 3, 64, 512, 3));
  expect_no_strategy_beats_the_bound(trained_chain(toy::small_cluster(1, 2), 2, 3, 1024, 2));
}

TEST(LowerBound, random_shares_do_not_beat_it) {
  const Problem problem = trained_chain(toy::sample_cluster("tag-testbed"), 4, 96, 1024, 4);
  const Nanos bound = lower_bound(problem);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    Strategy strategy;
    for (std::size_t g = 0; g < problem.grouping->size(); ++g) {
      Decision decision{static_cast<Mode>(random.below(4)), {}};
      for (std::size_t d = 0; d < problem.cluster->device_count(); ++d)
        if (random.below(2) == 0)
          decision.devices.push_back({DeviceId(d), static_cast<std::int32_t>(1 + random.below(9))});
      if (decision.devices.empty()) decision = decision_on_device(DeviceId(0));
      strategy.groups.emplace_back(decision);
    }
    EXPECT_GE(evaluator->evaluate(strategy).step_time, bound);
  }
}

// One device of one type: the work bound is the sum of all op times, which the simulator reaches.
TEST(LowerBound, is_tight_on_one_device) {
  const Problem problem = trained_chain(toy::small_cluster(1, 0), 3, 16, 512, 3);
  const auto evaluator = make_simulating_evaluator(problem, 1);
  const Nanos time = evaluator->evaluate(on_one_device(problem, DeviceId(0))).step_time;
  EXPECT_LE(lower_bound(problem), time);
  EXPECT_GT(lower_bound(problem).value, time.value * 999 / 1000);
}

// Equal devices without communication to count: the bound is the n-th part of the work or the path.
TEST(LowerBound, falls_with_more_devices_but_not_below_the_path) {
  Nanos last = Nanos::max();
  for (int devices : {1, 2, 4, 8}) {
    const Nanos bound = lower_bound(trained_chain(toy::small_cluster(devices, 0), 3, 64, 2048, 3));
    EXPECT_LE(bound, last);
    last = bound;
  }
  EXPECT_GT(last.value, 0);
}

// Measured times may take a step between the batch sizes that the bound looks at.
TEST(LowerBound, holds_for_measured_times_that_grow_faster_than_the_samples) {
  Problem problem = toy::chain_problem(toy::small_cluster(4, 0), 2, 1000);
  Profile profile;
  for (std::size_t op : {0, 1})
    profile.ops.push_back({op_signature(*problem.graph, OpId(op)),
                           "V100-SXM2-32GB",
                           {{1, Nanos(100'000), {}, 10},
                            {250, Nanos(100'000), {}, 10},
                            {293, Nanos(4'400'000), {}, 10},
                            {1000, Nanos(20'000'000), {}, 10}}});
  CostSources sources;
  sources.profile = std::make_shared<const Profile>(normalised(std::move(profile)));
  problem.cost = make_cost_model(problem.graph, problem.cluster, sources);
  Strategy everywhere;
  everywhere.groups.resize(problem.grouping->size());
  const Nanos time = make_simulating_evaluator(problem, 1)->evaluate(everywhere).step_time;
  EXPECT_EQ(time, Nanos(400'000));  // 250 samples a device
  EXPECT_LE(lower_bound(problem), time);
}

}  // namespace
}  // namespace strato
