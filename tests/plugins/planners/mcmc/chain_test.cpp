// One chain: Metropolis sampling, and when it ends.
#include "plugins/planners/search/mcmc/chain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/search/evaluate/actions.h"
#include "core/search/evaluate/baselines.h"
#include "tests/core/search/toy.h"

namespace strato::mcmc {
namespace {

struct Ground {
  Problem problem = toy::chain_problem(toy::small_cluster(2, 1), 2);
  std::vector<Decision> actions = make_actions(problem, {});
  CostScale scale{*problem.cluster, Nanos(1'000'000)};

  Chain chain(double beta, std::uint64_t seed) const {
    const Strategy start = data_parallel(problem);
    return {start, toy::separable(start), scale, *problem.grouping, actions, beta, seed};
  }
};

std::vector<Score> scores_of(const std::vector<Strategy>& strategies) {
  std::vector<Score> scores;
  for (const Strategy& strategy : strategies) scores.push_back(toy::separable(strategy));
  return scores;
}

TEST(Chain, visits_states_as_often_as_metropolis_says) {
  const Ground ground;
  const double beta = 4;
  Chain chain = ground.chain(beta, 7);
  std::map<Digest, double> visits, expected;
  double all = 0, sum = 0;
  while (all < 400'000) {
    const Digest before = chain.at().digest();
    const std::int64_t steps = chain.steps(), accepted = chain.acceptances();
    chain.accept(scores_of(chain.propose(1000)));
    const double passed = static_cast<double>(chain.steps() - steps);
    all += passed;
    visits[before] += passed - (chain.acceptances() > accepted ? 1 : 0);
    if (chain.acceptances() > accepted) visits[chain.at().digest()] += 1;
  }
  Strategy strategy = data_parallel(ground.problem);
  for (const Decision& first : ground.actions)
    for (const Decision& second : ground.actions) {
      strategy.groups[GroupId(0)] = first;
      strategy.groups[GroupId(1)] = second;
      const double cost = ground.scale.cost(toy::separable(strategy));
      sum += expected[strategy.digest()] = std::exp(-beta * cost);
    }
  double distance = 0;  // total variation
  for (const auto& [state, weight] : expected)
    distance += std::abs(weight / sum - visits[state] / all) / 2;
  EXPECT_LT(distance, 0.05);
}

TEST(Chain, strict_chains_only_go_down_and_free_ones_go_anywhere) {
  const Ground ground;
  Chain strict = ground.chain(1e9, 1), free = ground.chain(0, 1);
  double cost = 1e9;
  for (int k = 0; k < 200; ++k) {
    strict.accept(scores_of(strict.propose(8)));
    free.accept(scores_of(free.propose(8)));
    const double now = ground.scale.cost(toy::separable(strict.at()));
    EXPECT_LE(now, cost);
    cost = now;
  }
  EXPECT_EQ(free.acceptances(), free.steps());
  EXPECT_LT(strict.acceptances(), 30);
}

TEST(Chain, ends_when_half_of_its_time_brought_nothing) {
  const Ground ground;
  Chain chain = ground.chain(1e9, 3);
  std::int64_t improved_at = 0;
  while (!chain.is_stuck()) {
    ASSERT_LT(chain.steps(), 100'000);
    if (chain.accept(scores_of(chain.propose(1)))) improved_at = chain.steps();
  }
  EXPECT_GE(chain.steps() - improved_at, chain.steps() / 2);
}

TEST(CostScale, what_does_not_fit_costs_more_than_anything_and_more_bytes_more) {
  const Ground ground;
  const Score fits{Nanos(1'000'000'000'000), true, Bytes(0), nullptr};
  const Score little{Nanos(1), false, Bytes(1'000'000), nullptr};
  const Score much{Nanos(1), false, Bytes(40'000'000'000), nullptr};
  EXPECT_LT(ground.scale.cost(fits), ground.scale.cost(little) + 1e6);
  EXPECT_LT(ground.scale.cost(little), ground.scale.cost(much));
}

}  // namespace
}  // namespace strato::mcmc
