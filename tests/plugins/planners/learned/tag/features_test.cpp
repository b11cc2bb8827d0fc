// What the network sees: ranges on everything bundled, and that it means what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/search/evaluate/outcome.h"
#include "tests/paths.h"
#include "tests/plugins/planners/learned/tag/kit.h"

namespace strato::tag {
namespace {

void expect_in_range(std::span<const float> values, const char* what) {
  for (float value : values) {
    ASSERT_TRUE(std::isfinite(value)) << what;
    ASSERT_GE(value, -2) << what;
    ASSERT_LE(value, 2) << what;
  }
}

void expect_in_range(const ProblemFeatures& f) {
  expect_in_range(f.op.values, "op");
  expect_in_range(f.device.values, "device");
  expect_in_range(f.op_op.values, "op-op");
  expect_in_range(f.link.values, "link");
  expect_in_range(f.speed.values, "speed");
  expect_in_range(f.used.values, "used");
  expect_in_range(f.share.values, "share");
  expect_in_range(f.action.values, "action");
}

void expect_in_range(const StateFeatures& f) {
  expect_in_range(f.op.values, "op state");
  expect_in_range(f.device.values, "device state");
  expect_in_range(f.placement.values, "placement");
  expect_in_range(f.idle, "link idle");
  expect_in_range(f.slice.values, "slice");
}

std::vector<std::string> bundled_clusters() {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(kSourceFolder) + "/sample_graphs/clusters"))
    if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
  return {names.begin(), names.end()};
}

TEST(Features, are_finite_and_bounded_on_every_bundled_cluster) {
  const Graph lenet = sample_model("lenet", 64);
  for (const std::string& cluster : bundled_clusters()) {
    SCOPED_TRACE(cluster);
    const Problem problem = make_problem(lenet, toy::sample_cluster(cluster), {});
    const FeatureMaker maker = maker_of(problem);
    expect_in_range(*maker.problem());
    for (std::size_t depth : {0, 1, 2})
      if (depth < problem.grouping->size())
        expect_in_range(RandomState(problem, maker, depth, depth + 1).features());
  }
}

TEST(Features, are_finite_and_bounded_on_large_models) {
  for (const auto& [model, batch] : {std::pair{"vgg19", 96}, {"bert_large", 16}, {"rnnlm", 64}}) {
    SCOPED_TRACE(model);
    const Problem problem = sample(model, batch, "tag-testbed");
    const FeatureMaker maker = maker_of(problem);
    expect_in_range(*maker.problem());
    expect_in_range(RandomState(problem, maker, 4, 7).features());
  }
}

TEST(Features, edges_are_sorted_by_target_and_every_group_sees_itself) {
  const FeatureMaker maker = maker_of(toy::chain_problem(toy::small_cluster(2, 2), 4));
  const ProblemFeatures& f = *maker.problem();
  ASSERT_EQ(f.sources.size(), f.targets.size());
  ASSERT_EQ(f.op_op.rows, f.sources.size());
  EXPECT_EQ(f.sources.size(), 4U + 2 * 3);  // itself; a chain has three edges, seen from both ends
  std::set<std::int32_t> themselves;
  for (std::size_t e = 0; e < f.sources.size(); ++e) {
    if (e > 0) {
      EXPECT_LT(std::pair(f.targets[e - 1], f.sources[e - 1]),
                std::pair(f.targets[e], f.sources[e]));
    }
    EXPECT_EQ(f.op_op.at(e, 2) == 1, f.sources[e] == f.targets[e]);
    if (f.sources[e] == f.targets[e]) themselves.insert(f.sources[e]);
  }
  EXPECT_EQ(themselves.size(), 4U);
}

TEST(Features, actions_say_what_they_use) {
  const Problem problem = toy::chain_problem(toy::small_cluster(4, 2), 3);
  const FeatureMaker maker = maker_of(problem);
  const ProblemFeatures& f = *maker.problem();
  for (std::size_t a = 0; a < f.actions(); ++a) {
    const Decision& decision = maker.actions()[a];
    float share = 0, devices = 0, modes = 0;
    for (std::size_t d = 0; d < f.device_groups(); ++d) {
      share += f.share.at(a, d);
      const auto& group = problem.cluster->groups()[DeviceGroupId(d)];
      devices += f.used.at(a, d) * static_cast<float>(group.devices.size());
    }
    for (std::size_t c = 0; c < 4; ++c) modes += f.action.at(a, c);
    EXPECT_NEAR(share, 1, 1e-5);
    EXPECT_NEAR(devices, static_cast<float>(decision.devices.size()), 1e-4);
    EXPECT_EQ(modes, 1);
    EXPECT_EQ(f.action.at(a, static_cast<std::size_t>(decision.mode)), 1);
  }
}

TEST(Features, a_state_says_what_is_decided_and_what_is_next) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 4);
  const FeatureMaker maker = maker_of(problem);
  const RandomState state(problem, maker, 2, 5);
  const StateFeatures& f = state.features();
  EXPECT_EQ(f.next, 2);
  for (std::size_t g = 0; g < 4; ++g) {
    EXPECT_EQ(f.op.at(g, 6), g < 2 ? 1 : 0);
    EXPECT_EQ(f.op.at(g, 7), g == 2 ? 1 : 0);
    const Strategy whole = complete(state.partial(), *problem.cluster);
    EXPECT_EQ(f.op.at(g, static_cast<std::size_t>(whole.groups[GroupId(g)]->mode)), 1);
    float share = 0;
    for (std::size_t d = 0; d < 3; ++d) share += f.placement.at(g * 3 + d, 2);
    EXPECT_NEAR(share, 1, 1e-5);
  }
  float first = 0;
  for (std::size_t a = 0; a < maker.actions().size(); ++a) first += f.slice.at(a, 3);
  EXPECT_EQ(first, 1);  // exactly one action is the first group's decision
}

TEST(Features, parameter_servers_are_illegal_only_without_parameters_below_the_root) {
  const Problem problem = sample("lenet", 64, "tag-testbed");
  const FeatureMaker maker = maker_of(problem);
  const RandomState root(problem, maker, 0, 1);
  EXPECT_EQ(std::ranges::count(root.features().legal, 1.0F),
            static_cast<std::ptrdiff_t>(maker.actions().size()));
  for (std::size_t depth = 1; depth < problem.grouping->size(); ++depth) {
    const RandomState state(problem, maker, depth, 1);
    const bool synchronises = problem.grouping->group(GroupId(depth)).parameter_bytes.value > 0;
    for (std::size_t a = 0; a < maker.actions().size(); ++a)
      EXPECT_EQ(state.features().legal[a] == 0,
                !synchronises && maker.actions()[a].mode == Mode::ReplicatePs);
  }
}

TEST(Features, one_device_and_one_group) {
  const Problem alone = toy::chain_problem(toy::small_cluster(1, 0), 1);
  const FeatureMaker maker = maker_of(alone);
  EXPECT_EQ(maker.actions().size(), 1U);
  expect_in_range(*maker.problem());
  expect_in_range(RandomState(alone, maker, 0, 1).features());
}

TEST(Features, without_feedback_its_columns_are_zero) {
  const Problem problem = toy::chain_problem(toy::small_cluster(2, 2), 3);
  const FeatureMaker maker = maker_of(problem);
  Strategy nothing;
  nothing.groups.resize(3);
  const Score score = simulate_strategy(problem, data_parallel(problem), false).score;
  const StateFeatures f = maker.state({nothing, GroupId(0), score});
  expect_in_range(f);
  for (std::size_t g = 0; g < 3; ++g) EXPECT_EQ(f.op.at(g, 4) + f.op.at(g, 5), 0);
  EXPECT_EQ(*std::ranges::max_element(f.idle), 0);
}

}  // namespace
}  // namespace strato::tag
