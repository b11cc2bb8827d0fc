// Placeto: its episodes, what it learns from them, and the planner as it is shipped.
#include "plugins/planners/learned/gdp/planners/placeto.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/search/run/run_planner.h"
#include "tests/plugins/planners/learned/gdp/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::gdp {
namespace {

NetworkSize stepwise_network() {
  NetworkSize size = tiny_network();
  size.stepwise = true;
  return size;
}

PlacementOptions whole_placing() {
  PlacementOptions options;
  options.replicate = false;
  return options;
}

bool always() { return true; }

TEST(Placeto, EpisodesLookAtEveryGroupOnceAndTheirRewardsAddUp) {
  ToyTask toy(9, 3, whole_placing());
  Network network = Network::make(stepwise_network(), 4);
  Placeto placeto(toy.task, network, {});
  Random random(3);
  const Placement start(static_cast<std::size_t>(toy.task.units().count), 2);
  const double before = toy.task.reward(toy.task.evaluate({start})[0]);
  const Episode episode = placeto.play(start, always, random);
  ASSERT_EQ(episode.steps.size(), placeto.groups());
  Placement now = start;
  double sum = 0;
  for (std::size_t t = 0; t < episode.steps.size(); ++t) {
    const Episode::Step& step = episode.steps[t];
    EXPECT_EQ(step.before, now);
    const GraphFeatures seen = placeto.features(step.before, t);
    EXPECT_EQ(seen.placed, std::vector<std::int64_t>(now.begin(), now.end()));
    for (std::size_t u = 0; u < now.size(); ++u)
      if (seen.turn[u * kTurnColumns + 1] > 0) now[u] = step.choice;
    sum += step.reward;
  }
  const GraphFeatures last = placeto.features(now, placeto.groups() - 1);
  for (std::size_t u = 0; u < now.size(); ++u)  // every unit had its turn
    EXPECT_EQ(last.turn[u * kTurnColumns] + last.turn[u * kTurnColumns + 1], 1.0F);
  EXPECT_NEAR(sum, toy.task.reward(toy.task.evaluate({now})[0]) - before, 1e-9);
  EXPECT_GT(episode.entropy, 0);
}

TEST(Placeto, StopsBetweenMoves) {
  ToyTask toy(9, 3, whole_placing());
  Network network = Network::make(stepwise_network(), 4);
  Placeto placeto(toy.task, network, {});
  Random random(3);
  const std::int64_t before = toy.task.evaluations();
  int left = 3;
  const Episode episode = placeto.play(
      toy.task.best(), [&] { return left-- > 0; }, random);
  EXPECT_LE(episode.steps.size(), 2U);
  EXPECT_LE(toy.task.evaluations(), before + 3);
  EXPECT_TRUE(placeto
                  .play(
                      toy.task.best(), [] { return false; }, random)
                  .steps.empty());
  placeto.learn({});  // nothing to learn from
}

// Of two moves of one turn the better rewarded one becomes more likely.
TEST(Placeto, LearnsMovesThatPay) {
  ToyTask toy(5, 2, whole_placing());
  Network network = Network::make(stepwise_network(), 4);
  Placeto placeto(toy.task, network, {.learn = {.rate = 0.01, .entropy = 0}});
  const Placement start(static_cast<std::size_t>(toy.task.units().count), 0);
  const GraphFeatures seen = placeto.features(start, 0);
  std::int32_t decider = -1;
  const auto probability = [&] {
    const Probabilities policy = network.probabilities(seen);
    return std::exp(static_cast<double>(policy.row(decider)[1]));
  };
  for (std::int32_t u = 0; u < seen.units && decider < 0; ++u)
    if (seen.turn[static_cast<std::size_t>(u) * kTurnColumns + 1] > 0) decider = u;
  ASSERT_GE(decider, 0);
  const double before = probability();
  for (int round = 0; round < 40; ++round) {
    const Probabilities policy = network.probabilities(seen);
    for (const std::int32_t choice : {0, 1}) {
      Episode episode;
      episode.steps.push_back({0, start, choice,
                               policy.row(decider)[static_cast<std::size_t>(choice)],
                               choice == 1 ? 1.0 : -1.0});
      placeto.learn(episode);
    }
  }
  EXPECT_GT(probability(), before);
  EXPECT_GT(probability(), 0.8);
}

TEST(Placeto, ANetworkThatIsNotStepWiseSeesNoPlaces) {
  ToyTask toy(5, 2, whole_placing());
  Network network = Network::make(stepwise_network(), 4);
  Placeto placeto(toy.task, network, {});
  const Placement here(static_cast<std::size_t>(toy.task.units().count), 0), there(here.size(), 1);
  EXPECT_NE(network.probabilities(placeto.features(here, 0)).logarithm,
            network.probabilities(placeto.features(there, 0)).logarithm);
  const Network plain = Network::make(tiny_network(), 4);
  EXPECT_EQ(plain.probabilities(placeto.features(here, 0)).logarithm,
            plain.probabilities(toy.task.features()).logarithm);
  EXPECT_EQ(Network::parse(network.bytes(""), "w").size(), network.size());
}

TEST(Placeto, IsSoundAsItIsShipped) {
  const PlanResult result = sound_plan_of("placeto");
  for (const auto& decision : result.strategy.groups) EXPECT_EQ(decision->devices.size(), 1U);
}

TEST(Placeto, RefusesOptions) {
  const Problem problem = sample("lenet", 64, "gdp");
  PlannerOptions options;
  options.iterations = 60;
  Observer quiet;
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"epochs", "0"}, {"discount", "1.1"}, {"rate", "-1"}, {"steps", "3"}}) {
    options.set = {{key, value}};
    EXPECT_THROW(run_planner(*registry().planner("placeto"), problem, options, quiet, {}),
                 InputError)
        << key;
  }
}

}  // namespace
}  // namespace strato::gdp
