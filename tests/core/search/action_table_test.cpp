#include "core/search/mcts/action_table.h"

#include <gtest/gtest.h>

#include "core/search/mcts/tree_rewards.h"
#include "tests/core/search/toy.h"

namespace strato {
namespace {

class ActionTableTest : public testing::Test {
 protected:
  // Group 1 is pinned to a decision that is no action.
  SearchTree steering() const {
    SearchTree tree;
    const ActionTable free(problem_, options_, 1);
    tree.actions = free.actions();
    tree.order = free.order();
    tree.pinned.assign(4, std::nullopt);
    tree.pinned[GroupId(1)] = Decision{Mode::ReplicatePs, {{DeviceId(0), 2}, {DeviceId(2), 5}}};
    return tree;
  }
  const Problem problem_ = toy::chain_problem(toy::small_cluster(2, 2), 4);
  const TreeSearchOptions options_;
};

TEST_F(ActionTableTest, ranks_every_action_of_a_depth_once) {
  const ActionTable table(problem_, options_, 1);
  EXPECT_EQ(table.groups(), 4U);
  EXPECT_EQ(table.free_action_count(), table.actions().size());
  for (std::size_t depth = 0; depth < table.groups(); ++depth) {
    const auto& ranked = table.ranked()[depth];
    for (std::size_t place = 0; place < ranked.size(); ++place)
      EXPECT_EQ(table.rank(depth, ranked[place]), static_cast<std::int32_t>(place));
    EXPECT_EQ(table.ranked_by_group()[table.order()[depth].index()], ranked);
  }
  EXPECT_TRUE(table.obeys_pins({0, 1, 2, 3}));
  EXPECT_EQ(table.digest_of_pins(), Digest());
  const ActionVector actions = {3, 0, 2, 1};
  EXPECT_EQ(table.actions_of(table.strategy_of(actions)), actions);
}

TEST_F(ActionTableTest, a_pin_is_an_action_of_its_group_alone) {
  const SearchTree tree = steering();
  const ActionTable table(problem_, options_, 1, &tree);
  const auto pin = static_cast<std::int32_t>(table.free_action_count());
  ASSERT_EQ(table.actions().size(), table.free_action_count() + 1);
  EXPECT_EQ(table.pinned(), (std::vector<std::int32_t>{-1, pin, -1, -1}));
  EXPECT_EQ(table.with_pins({0, 0, 0, 0}), (ActionVector{0, pin, 0, 0}));
  EXPECT_FALSE(table.obeys_pins({0, 0, 0, 0}));
  EXPECT_TRUE(table.obeys_pins({0, pin, 0, 0}));
  EXPECT_EQ(table.legal_by_group()[1], std::vector<std::int32_t>{pin});
  const auto legal = table.legal_by_group();
  for (const std::size_t group : {0U, 2U, 3U})
    for (const std::int32_t action : legal[group]) EXPECT_LT(action, pin);
  EXPECT_NE(table.digest_of_pins(), Digest());
}

TEST_F(ActionTableTest, opens_by_rank_what_follows_the_first_group_first_or_by_prior) {
  const ActionTable table(problem_, options_, 1);
  ActionOrder order(table, options_);
  TreeNode node;
  node.depth = 1;
  node.first_action = table.ranked()[1][2];
  EXPECT_EQ(order.action(node, 0), table.ranked()[1][2]);
  EXPECT_EQ(order.action(node, 1), table.ranked()[1][0]);
  EXPECT_EQ(order.action(node, 2), table.ranked()[1][1]);
  EXPECT_EQ(order.action(node, 3), table.ranked()[1][3]);
  EXPECT_EQ(order.count(node), table.ranked()[1].size());
  std::vector<float> row(table.actions().size(), 0);
  const std::int32_t likely = table.ranked()[1].back();
  row[static_cast<std::size_t>(likely)] = 1;
  order.set_priors(node, row);
  order.sort_by_prior(node);
  EXPECT_EQ(order.action(node, 0), likely);
  EXPECT_EQ(order.prior(node, likely), 1);
  node.depth = 4;
  EXPECT_TRUE(order.is_complete(node));
  EXPECT_EQ(order.count(node), 0U);
}

TEST_F(ActionTableTest, rewards_are_relative_to_the_baseline) {
  KnownRewards rewards(*problem_.cluster, true);
  rewards.set_baseline(Nanos(1000));
  EXPECT_EQ(rewards.learn({1}, {Nanos(500), true, Bytes(0), nullptr}).reward, 1);
  EXPECT_EQ(rewards.learn({2}, {Nanos(2000), true, Bytes(0), nullptr}).reward, -0.5F);
  const float little = rewards.learn({3}, {Nanos(1), false, Bytes(1 << 20), nullptr}).reward;
  const float much = rewards.learn({4}, {Nanos(1), false, Bytes(1 << 30), nullptr}).reward;
  EXPECT_LT(little, -1);
  EXPECT_LT(much, little);
  ASSERT_NE(rewards.find(digest_of(ActionVector{2})), nullptr);
  EXPECT_EQ(rewards.find(digest_of(ActionVector{2}))->step_time_ns, 2000);
  EXPECT_TRUE(rewards.contains({4}));
  EXPECT_FALSE(rewards.contains({5}));
  KnownRewards coarse(*problem_.cluster, false);
  EXPECT_EQ(coarse.learn({1}, {Nanos(1), false, Bytes(1 << 30), nullptr}).reward, -1);
}

}  // namespace
}  // namespace strato
