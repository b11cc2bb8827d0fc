// Units, features, drawing and the network of GDP.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/schedule/dag/dag.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "tests/plugins/planners/learned/gdp/kit.h"
#include "tests/plugins/shipped.h"

namespace strato::gdp {
namespace {

TEST(Units, KeepParametersWithTheirReadersAndGradientsWithTheirOps) {
  const Problem problem = sample("lenet", 32, "gdp");
  const Graph& graph = *problem.graph;
  const Dag dag = dag_of(problem);
  for (const Colocate colocate : {Colocate::Parameters, Colocate::Gradients}) {
    const Units units = units_of(problem, dag, colocate);
    ASSERT_EQ(units.of_op.size(), graph.op_count());
    ASSERT_EQ(units.leader.size(), static_cast<std::size_t>(units.count));
    std::int32_t next = 0;  // numbered by their first ops
    for (const std::int32_t unit : units.of_op) {
      ASSERT_LE(unit, next);
      next = std::max(next, unit + 1);
    }
    EXPECT_EQ(next, units.count);
    for (std::size_t i = 0; i < graph.op_count(); ++i) {
      const OpId forward = graph.op(OpId(i)).forward;
      if (colocate == Colocate::Gradients && forward.valid()) {
        EXPECT_EQ(units.of_op[i], units.of_op[forward.index()]);
      }
      const auto op = static_cast<NodeIndex>(i);
      for (NodeIndex other = 0; dag.colocation(op) >= 0 && other < op; ++other) {
        if (dag.colocation(other) != dag.colocation(op)) continue;
        EXPECT_EQ(units.of_op[i], units.of_op[static_cast<std::size_t>(other)]);
      }
    }
    for (std::int32_t u = 0; u < units.count; ++u)
      EXPECT_EQ(units.of_op[units.leader[static_cast<std::size_t>(u)].index()], u);
  }
  EXPECT_LT(units_of(problem, dag, Colocate::Gradients).count,
            units_of(problem, dag, Colocate::Parameters).count);
}

TEST(Features, AreSmallAndNameNeighboursThatExist) {
  for (const char* model : {"lenet", "rnnlm"}) {
    const Problem problem = sample(model, 32, "tag-testbed");
    const auto evaluator = make_simulating_evaluator(problem, 1);
    const PlacementTask task(problem, *evaluator, {});
    const GraphFeatures& features = task.features();
    EXPECT_EQ(features.unit.size(), static_cast<std::size_t>(features.units * kUnitColumns));
    EXPECT_EQ(features.choice.size(), static_cast<std::size_t>(features.choices * kChoiceColumns));
    for (const auto* values : {&features.unit, &features.choice})
      for (const float value : *values) {
        EXPECT_TRUE(std::isfinite(value));
        EXPECT_LE(std::abs(value), 2);
      }
    for (std::int32_t u = 0; u < features.units; ++u) {
      std::set<std::int64_t> seen;
      for (int k = 0; k < features.neighbours; ++k) {
        const std::int64_t other =
            features.adjacent[static_cast<std::size_t>(u * features.neighbours + k)];
        EXPECT_NE(other, u);
        EXPECT_GE(other, 0);
        EXPECT_LE(other, features.units);
        EXPECT_TRUE(other == features.units || seen.insert(other).second);
      }
    }
  }
}

// Shared noise must not change what a unit does on its own, only what units do together.
TEST(Draw, KeepsEveryUnitsProbabilities) {
  const Probabilities policy =
      policy_of({{0.7, 0.2, 0.1}, {0.7, 0.2, 0.1}, {0.1, 0.1, 0.8}, {0.34, 0.33, 0.33}});
  constexpr int kDraws = 20'000;
  Random random(7);
  for (const std::vector<std::int32_t>& block :
       {std::vector<std::int32_t>{0, 1, 2, 3}, {0, 0, 0, 0}, {5, 5, 2, 2}}) {
    std::vector<std::vector<int>> count(4, std::vector<int>(3, 0));
    int together = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Placement placement = draw(policy, block, random);
      for (std::size_t u = 0; u < 4; ++u) ++count[u][static_cast<std::size_t>(placement[u])];
      together += placement[0] == placement[1] ? 1 : 0;
    }
    for (std::int32_t u = 0; u < 4; ++u)
      for (std::size_t c = 0; c < 3; ++c) {
        const double p = std::exp(static_cast<double>(policy.row(u)[c]));
        const double off = count[static_cast<std::size_t>(u)][c] / double{kDraws} - p;
        EXPECT_LT(std::abs(off), 5 * std::sqrt(p * (1 - p) / kDraws)) << u << " " << c;
      }
    EXPECT_NEAR(together / double{kDraws}, block[0] == block[1] ? 1 : 0.49 + 0.04 + 0.01, 0.02);
  }
}

TEST(Network, GivesProbabilitiesAndIsTheSameTwice) {
  const ToyTask toy(9, 3);
  const Network a = Network::make(tiny_network(), 5), b = Network::make(tiny_network(), 5);
  const Probabilities p = a.probabilities(toy.task.features());
  EXPECT_EQ(p.logarithm, b.probabilities(toy.task.features()).logarithm);
  for (std::int32_t u = 0; u < p.units; ++u) {
    double sum = 0;
    for (const float l : p.row(u)) sum += std::exp(static_cast<double>(l));
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_GT(p.entropy, 0);
  EXPECT_LE(p.entropy, std::log(p.choices) + 1e-6);
}

// Of every unit: shares of one whole, and nothing of what is further away than the segment before.
TEST(Network, TellsWhereItLooks) {
  const ToyTask toy(14, 3);
  const GraphFeatures& features = toy.task.features();
  const NetworkSize size = tiny_network();  // segments of 4
  ASSERT_GT(features.units, 2 * size.segment);
  const AttentionWeights weights = Network::make(size, 4).attention(features);
  ASSERT_EQ(weights.units, features.units);
  std::vector<double> seen(static_cast<std::size_t>(features.units));
  for (std::int32_t unit = 0; unit < features.units; ++unit) {
    std::ranges::fill(seen, 0.0);
    weights.add(unit, 0.5, seen);
    double sum = 0;
    for (std::int32_t other = 0; other < features.units; ++other) {
      const double share = seen[static_cast<std::size_t>(other)];
      const std::int32_t behind = unit / size.segment - other / size.segment;
      EXPECT_EQ(share > 0, behind == 0 || behind == 1) << unit << " sees " << other;
      sum += share;
    }
    EXPECT_NEAR(sum, 0.5, 1e-4) << unit;
  }
  EXPECT_ANY_THROW(weights.add(features.units, 1, seen));
  NetworkSize blind = size;
  blind.attention = false;
  EXPECT_TRUE(Network::make(blind, 4).attention(features).weight.empty());
}

// Attention stops at the segment before: what is further away is not seen by the placement network.
// The embedding has its own reach, so the graph here has no edges.
TEST(Network, AttendsToItsSegmentAndTheOneBefore) {
  GraphFeatures features;
  features.units = 16;
  features.neighbours = 1;
  features.choices = 2;
  features.unit.assign(static_cast<std::size_t>(16 * kUnitColumns), 0.1F);
  features.type.assign(16, 3);
  features.adjacent.assign(16, 16);
  features.choice = {1, 1, 1, 1, 0, 0, 1, 1, 0.5, 1, 1, 0, 0, 1};
  NetworkSize size = tiny_network();  // segments of 4
  size.neighbours = 1;
  size.layers = 1;
  size.superposition = false;
  const Network network = Network::make(size, 2);
  const auto moved = [&](std::int32_t changed, std::int32_t seen) {
    GraphFeatures other = features;
    for (std::int64_t c = 0; c < kUnitColumns; ++c)
      other.unit[static_cast<std::size_t>(changed * kUnitColumns + c)] = 0.9F;
    const Probabilities before = network.probabilities(features);
    const Probabilities after = network.probabilities(other);
    double most = 0;
    for (std::size_t c = 0; c < 2; ++c)
      most =
          std::max(most, static_cast<double>(std::abs(before.row(seen)[c] - after.row(seen)[c])));
    return most;
  };
  EXPECT_GT(moved(5, 6), 1e-5);  // the same segment
  EXPECT_GT(moved(7, 5), 1e-5);  // also behind: there is no order in a segment
  EXPECT_GT(moved(2, 6), 1e-5);  // the segment before
  EXPECT_LT(moved(9, 6), 1e-7);  // the one behind
  EXPECT_LT(moved(0, 9), 1e-7);  // two before
}

std::vector<RollOut> some_trials(const Network& network, const ToyTask& toy, int count) {
  Random random(11);
  const Probabilities policy = network.probabilities(toy.task.features());
  std::vector<RollOut> trials;
  for (int t = 0; t < count; ++t) {
    RollOut trial;
    for (std::int32_t u = 0; u < policy.units; ++u) {
      const auto c = random.below(static_cast<std::uint64_t>(policy.choices));
      trial.choice_of.push_back(static_cast<std::int32_t>(c));
      // Near the policy, so that the ratio is inside the clip.
      trial.logarithm.push_back(policy.row(u)[c] + static_cast<float>(random.uniform(-0.05, 0.05)));
      trial.drawn.push_back(random.below(2) == 0 ? 1.0F : 0.0F);
    }
    trial.drawn[0] = 1;
    trial.advantage = random.uniform(-1, 1);
    trials.push_back(trial);
  }
  return trials;
}

// In one segment: the states of a segment before get no gradient, though they matter.
TEST(Network, GradientsAgreeWithDifferences) {
  for (const bool superposition : {true, false}) {
    const ToyTask toy(7, 2);
    NetworkSize size = tiny_network();
    size.superposition = superposition;
    size.segment = 64;
    Network network = Network::make(size, 3);
    const std::vector<RollOut> trials = some_trials(network, toy, 4);
    const LearnOptions learn{.rate = 0, .clip_ratio = 0.5, .entropy = 0.1};
    network.improve(toy.task.features(), trials, learn);  // of rate 0: nothing moves
    const std::vector<float> gradient = network.gradients(), start = network.parameters();
    Random random(4);
    double most = 0;
    for (const float g : gradient) most = std::max(most, std::abs(double{g}));
    ASSERT_GT(most, 0);
    for (int i = 0; i < 60; ++i) {
      const std::size_t at = random.below(start.size());
      constexpr float kStep = 2e-3F;
      const auto value = [&](float by) {
        std::vector<float> moved = start;
        moved[at] += by;
        network.set_parameters(moved);
        return network.improve(toy.task.features(), trials, learn);
      };
      const double slope = (value(kStep) - value(-kStep)) / (2.0 * kStep);
      EXPECT_NEAR(-gradient[at], slope, 0.02 * most + 2e-4) << at;
      network.set_parameters(start);
    }
  }
}

// What is given is not learned from.
TEST(Network, LearnsOnlyFromWhatWasDrawn) {
  const ToyTask toy(6, 2);
  Network network = Network::make(tiny_network(), 3);
  std::vector<RollOut> trials = some_trials(network, toy, 1);
  const LearnOptions learn{.rate = 0, .clip_ratio = 0.5, .entropy = 0};
  const double before = network.improve(toy.task.features(), trials, learn);
  for (std::size_t u = 0; u < trials[0].drawn.size(); ++u)
    if (trials[0].drawn[u] == 0) trials[0].logarithm[u] -= 0.3F;
  EXPECT_NEAR(network.improve(toy.task.features(), trials, learn), before, 1e-6);
  trials[0].logarithm[0] -= 0.3F;
  EXPECT_GT(std::abs(network.improve(toy.task.features(), trials, learn) - before), 1e-3);
}

TEST(Network, MovesTowardsWhatIsRewarded) {
  const ToyTask toy(6, 2);
  Network network = Network::make(tiny_network(), 3);
  const std::size_t units = static_cast<std::size_t>(toy.task.units().count);
  for (int step = 0; step < 150; ++step) {
    const Probabilities policy = network.probabilities(toy.task.features());
    std::vector<RollOut> trials(2);
    for (std::size_t t = 0; t < 2; ++t) {
      trials[t].choice_of.assign(units, static_cast<std::int32_t>(t));
      for (std::size_t u = 0; u < units; ++u)
        trials[t].logarithm.push_back(policy.row(static_cast<std::int32_t>(u))[t]);
      trials[t].advantage = t == 1 ? 1 : -1;
    }
    network.improve(toy.task.features(), trials, {.rate = 0.01, .entropy = 0});
  }
  const Probabilities policy = network.probabilities(toy.task.features());
  for (std::int32_t u = 0; u < policy.units; ++u)
    EXPECT_GT(std::exp(policy.row(u)[1]),
              0.8 * std::exp(policy.row(u)[1]) + 0.8 * std::exp(policy.row(u)[0]));
}

TEST(Weights, ComeBackAsTheyWereAndAreRefusedWhenDamaged) {
  const Network network = Network::make(tiny_network(), 9);
  const std::string bytes = network.bytes(R"({"seed": 9})");
  const Network back = Network::parse(bytes, "w");
  EXPECT_EQ(back.parameters(), network.parameters());
  EXPECT_EQ(back.size(), network.size());
  for (std::size_t cut = 0; cut < bytes.size(); cut += 97)
    EXPECT_THROW(Network::parse(bytes.substr(0, cut), "w"), InputError) << cut;
  for (std::size_t at = 0; at < bytes.size(); at += 89) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    EXPECT_THROW(Network::parse(damaged, "w"), InputError) << at;
  }
  EXPECT_THROW(Network::parse("", "w"), InputError);
  EXPECT_THROW(Network::parse("not weights at all, but long enough for a header", "w"), InputError);
}

}  // namespace
}  // namespace strato::gdp
