// The network's mathematics: probabilities, gradients, learning, symmetry.
#include "plugins/planners/learned/tag/network/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/search/portfolio/tree_search.h"
#include "core/sim/timeline/feedback.h"
#include "tests/plugins/planners/learned/tag/kit.h"

namespace strato::tag {
namespace {

constexpr NetworkSize kTinyPaper{.width = 8, .layers = 2, .heads = 2, .paper = true};
constexpr LearnOptions kStill{.rate = 0};  // gradients, and nothing moves

class Networks : public testing::TestWithParam<NetworkSize> {};
INSTANTIATE_TEST_SUITE_P(Variants, Networks, testing::Values(kTiny, kTinyPaper),
                         [](const auto& info) { return info.param.paper ? "paper" : "ours"; });

std::vector<float> forward(const Network& network, const FeatureMaker& maker,
                           const StateFeatures& state) {
  const StateFeatures* query = &state;
  return network.forward(*maker.problem(), std::span(&query, 1)).front();
}

TEST_P(Networks, rows_are_probabilities_over_the_legal_actions) {
  const Network network = Network::make(GetParam(), 3);
  for (const char* cluster : {"tag-testbed", "gdp", "local-cpu", "autodist-b11"}) {
    SCOPED_TRACE(cluster);
    const Problem problem = sample("lenet", 64, cluster);
    const FeatureMaker maker = maker_of(problem);
    for (std::size_t depth : {0, 1, 2, 3}) {
      if (depth >= problem.grouping->size()) continue;
      const RandomState state(problem, maker, depth, depth);
      const std::vector<float> row = forward(network, maker, state.features());
      ASSERT_EQ(row.size(), maker.actions().size());
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-4);
      for (std::size_t a = 0; a < row.size(); ++a) {
        EXPECT_GE(row[a], 0);
        if (state.features().legal[a] == 0) {
          EXPECT_EQ(row[a], 0);
        }
      }
    }
  }
}

TEST_P(Networks, one_device_one_group_one_action) {
  const Problem problem = toy::chain_problem(toy::small_cluster(1, 0), 1);
  const FeatureMaker maker = maker_of(problem);
  const RandomState state(problem, maker, 0, 1);
  EXPECT_EQ(forward(Network::make(GetParam(), 1), maker, state.features()),
            std::vector<float>{1.0F});
}

TEST_P(Networks, a_row_does_not_depend_on_the_rest_of_the_batch) {
  const Problem problem = toy::chain_problem(toy::small_cluster(4, 2), 5);
  const FeatureMaker maker = maker_of(problem);
  const Network network = Network::make(GetParam(), 9);
  std::vector<RandomState> states;
  for (std::size_t i = 0; i < 11; ++i) states.emplace_back(problem, maker, i % 5, i);
  std::vector<const StateFeatures*> queries;
  for (const RandomState& state : states) queries.push_back(&state.features());
  const auto rows = network.forward(*maker.problem(), queries);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto alone = forward(network, maker, *queries[i]);
    EXPECT_EQ(rows[i], alone) << i;  // to the last bit
  }
  EXPECT_TRUE(network.forward(*maker.problem(), {}).empty());
}

TEST_P(Networks, gradients_are_the_slopes_of_the_loss) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 3);
  const FeatureMaker maker = maker_of(problem);
  Network network = Network::make(GetParam(), 5);
  std::vector<Example> examples;
  Random random(1);
  for (std::size_t depth : {0, 1, 2}) {
    const RandomState state(problem, maker, depth, depth);
    std::vector<float> target(maker.actions().size());
    float sum = 0;
    for (std::size_t a = 0; a < target.size(); ++a) {
      target[a] = static_cast<float>(random.uniform()) * state.features().legal[a];
      sum += target[a];
    }
    for (float& t : target) t /= sum;
    examples.push_back({maker.problem(), state.shared(), target, depth == 1 ? 2.0F : 1.0F});
  }
  EXPECT_NEAR(network.learn(examples, kStill), network.loss(examples), 1e-5);
  const std::vector<float> start = network.parameters(), gradient = network.gradients();
  double length = 0;
  for (float g : gradient) length += static_cast<double>(g) * g;
  ASSERT_GT(length, 0);
  // Along random directions: single parameters change the loss by less than float's rounding.
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<double> direction(start.size());
    double slope = 0, norm = 0;
    for (std::size_t i = 0; i < start.size(); ++i) {
      direction[i] =
          random.uniform(-1, 1) + (trial % 2 == 0 ? gradient[i] / std::sqrt(length) * 30 : 0);
      norm += direction[i] * direction[i];
    }
    norm = std::sqrt(norm);
    const double h = 4e-3;
    std::vector<float> up = start, down = start;
    for (std::size_t i = 0; i < start.size(); ++i) {
      slope += gradient[i] * direction[i] / norm;
      up[i] += static_cast<float>(h * direction[i] / norm);
      down[i] -= static_cast<float>(h * direction[i] / norm);
    }
    network.set_parameters(up);
    const double above = network.loss(examples);
    network.set_parameters(down);
    const double below = network.loss(examples);
    EXPECT_NEAR((above - below) / (2 * h), slope, 2e-3 + 0.03 * std::abs(slope)) << trial;
  }
}

// Renumbering device groups: the same machines listed in another order.
std::shared_ptr<const Cluster> three_machines(const std::vector<int>& order) {
  const std::string machines[] = {
      R"({"name": "a", "gpus": [{"type": "V100-SXM2-32GB", "count": 4}],
          "fabric": {"bandwidth_GBps": 150, "latency_us": 2}, "nic": {"bandwidth_GBps": 10, "latency_us": 5}})",
      R"({"name": "b", "gpus": [{"type": "GTX-1080-Ti", "count": 2}],
          "fabric": {"bandwidth_GBps": 12, "latency_us": 4}, "nic": {"bandwidth_GBps": 5, "latency_us": 5}})",
      R"({"name": "c", "gpus": [{"type": "T4", "count": 1}],
          "fabric": {"bandwidth_GBps": 8, "latency_us": 4}, "nic": {"bandwidth_GBps": 2, "latency_us": 5}})"};
  std::string json =
      R"({"format": "stratoscope-cluster", "version": 1, "name": "three", "machines": [)";
  for (std::size_t i = 0; i < order.size(); ++i)
    json += (i > 0 ? "," : "") + machines[static_cast<std::size_t>(order[i])];
  json += R"(], "network": {"latency_us": 1}})";
  return std::make_shared<const Cluster>(parse_cluster(json, "three", GpuCatalogue::bundled()));
}

Decision renamed(const Decision& decision, const Cluster& from, const Cluster& to) {
  Decision result = decision;
  for (DeviceShare& share : result.devices)
    share.device = to.find_device(from.device(share.device).name);
  std::ranges::sort(result.devices);
  return result;
}

TEST_P(Networks, renumbering_device_groups_permutes_the_prior) {
  const Problem one = toy::chain_problem(three_machines({0, 1, 2}), 4);
  const Problem two = toy::chain_problem(three_machines({2, 0, 1}), 4);
  const FeatureMaker maker_one = maker_of(one);
  std::vector<Decision> actions;
  for (const Decision& action : maker_one.actions())
    actions.push_back(renamed(action, *one.cluster, *two.cluster));
  const FeatureMaker maker_two(two, actions);
  const Network network = Network::make(GetParam(), 4);
  for (std::size_t depth : {0, 1, 3}) {
    const RandomState state(one, maker_one, depth, 8);
    Strategy partial = state.partial();
    for (auto& decision : partial.groups)
      if (decision) decision = renamed(*decision, *one.cluster, *two.cluster);
    Score score = state.score();
    auto feedback = std::make_shared<Feedback>(*score.feedback);
    const std::size_t from[] = {2, 0, 1};  // group g of `two` is from[g] of `one`
    for (std::size_t a = 0; a < 3; ++a) {
      feedback->device_groups[DeviceGroupId(a)] =
          score.feedback->device_groups[DeviceGroupId(from[a])];
      for (std::size_t b = 0; b < 3; ++b)
        feedback->link_idle[a * 3 + b] = score.feedback->link_idle[from[a] * 3 + from[b]];
    }
    score.feedback = feedback;
    const auto row_one = forward(network, maker_one, state.features());
    const auto row_two =
        forward(network, maker_two, maker_two.state({partial, GroupId(depth), score}));
    for (std::size_t a = 0; a < row_one.size(); ++a) EXPECT_NEAR(row_one[a], row_two[a], 2e-5);
  }
}

// Which action is right depends on the group that is next and on the feedback's idle device group.
TEST(Learning, drives_the_loss_of_a_toy_target_down) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 4);
  const FeatureMaker maker = maker_of(problem);
  std::vector<Example> examples;
  for (std::size_t i = 0; i < 8; ++i) {
    const RandomState state(problem, maker, i % 4, i);
    std::vector<float> target(maker.actions().size());
    const std::size_t right = i % 4 == 3 ? 0 : 2 + i % 4;
    target[state.features().legal[right] > 0 ? right : 0] = 1;
    examples.push_back({maker.problem(), state.shared(), target, 1});
  }
  for (const NetworkSize& size : {NetworkSize{.width = 16, .layers = 2, .heads = 2}}) {
    Network network = Network::make(size, 2);
    const double before = network.loss(examples);
    for (int i = 0; i < 150; ++i) network.learn(examples, {.rate = 5e-3});
    EXPECT_GT(before, 1.5);
    EXPECT_LT(network.loss(examples), 0.1 * before);
  }
}

TEST(Learning, goes_on_from_a_saved_optimizer_as_if_it_had_not_stopped) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 1), 3);
  const FeatureMaker maker = maker_of(problem);
  const RandomState state(problem, maker, 1, 3);
  std::vector<float> target(maker.actions().size());
  target[1] = 1;
  const std::vector<Example> examples = {{maker.problem(), state.shared(), target, 1}};
  Network straight = Network::make(kTiny, 6), paused = Network::make(kTiny, 6);
  for (int i = 0; i < 6; ++i) straight.learn(examples, {});
  for (int i = 0; i < 3; ++i) paused.learn(examples, {});
  Network resumed = Network::parse(paused.bytes("{}"), "checkpoint");
  resumed.restore(paused.state());
  for (int i = 0; i < 3; ++i) resumed.learn(examples, {});
  EXPECT_EQ(resumed.parameters(), straight.parameters());
  learned::NetworkState cut = paused.state();
  cut.optimizer.mean.pop_back();
  EXPECT_THROW(resumed.restore(cut), InputError);
  cut = paused.state();
  cut.parameters.pop_back();
  EXPECT_THROW(resumed.restore(cut), InputError);
}

TEST(Learning, averaged_gradients_of_halves_are_the_whole_s) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 1), 3);
  const FeatureMaker maker = maker_of(problem);
  std::vector<Example> examples;
  for (std::size_t i = 0; i < 4; ++i) {
    const RandomState state(problem, maker, i % 3, i);
    std::vector<float> target(maker.actions().size());
    target[i % 2] = 1;
    examples.push_back({maker.problem(), state.shared(), target, 1});
  }
  Network network = Network::make(kTiny, 6);
  network.learn(examples, kStill);
  const std::vector<float> whole = network.gradients();
  network.learn(std::span(examples).first(2), kStill);
  std::vector<float> mean = network.gradients();
  network.learn(std::span(examples).last(2), kStill);
  const std::vector<float> other = network.gradients();
  for (std::size_t i = 0; i < mean.size(); ++i)
    EXPECT_NEAR((mean[i] + other[i]) / 2, whole[i], 1e-6 + 1e-4 * std::abs(whole[i]));
}

TEST(Prior, mixes_and_remembers) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 3);
  const FeatureMaker maker = maker_of(problem);
  const RandomState state(problem, maker, 1, 2);
  const Network network = Network::make(kTiny, 1);
  const PriorQuery query{state.partial(), GroupId(1), state.score()};
  NetworkPrior half(network, 0.5), none(network, 0), all(network, 1);
  const auto mixed = half.priors(problem, maker.actions(), std::span(&query, 1)).front();
  const auto pure = none.priors(problem, maker.actions(), std::span(&query, 1)).front();
  const auto flat = all.priors(problem, maker.actions(), std::span(&query, 1)).front();
  for (std::size_t a = 0; a < mixed.size(); ++a)
    EXPECT_NEAR(mixed[a], (pure[a] + flat[a]) / 2, 1e-6);
  EXPECT_EQ(half.remembered(), 1U);
  EXPECT_EQ(half.priors(problem, maker.actions(), std::span(&query, 1)).front(), mixed);
  EXPECT_EQ(half.remembered(), 1U);
  const Problem other = toy::chain_problem(toy::small_cluster(2, 1), 3);
  const FeatureMaker other_maker = maker_of(other);
  const RandomState other_state(other, other_maker, 1, 2);
  const PriorQuery other_query{other_state.partial(), GroupId(1), other_state.score()};
  EXPECT_EQ(half.priors(other, other_maker.actions(), std::span(&other_query, 1)).front().size(),
            other_maker.actions().size());
  EXPECT_EQ(half.remembered(), 1U);
}

}  // namespace
}  // namespace strato::tag
