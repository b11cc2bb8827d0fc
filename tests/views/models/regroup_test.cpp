// Other groups by hand.
#include "views/models/regroup.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "tests/views/graph/sample_problems.h"

namespace strato {
namespace {

using test::isolated_ops;
using test::nested_chain;

class RegroupTest : public ::testing::Test {
 protected:
  RegroupTest() {
    for (std::size_t g = 0; g < problem_.grouping->size(); ++g)
      strategy_.groups.push_back(decision_on_device(DeviceId(g % 4)));
    times_.assign(problem_.graph->op_count(), Nanos(10));
  }
  Regrouping from() { return {shown_ ? *shown_ : problem_, problem_, strategy_, times_}; }
  void take(const Strategy& strategy) {
    strategy_ = strategy;
    shown_ = std::make_unique<Problem>(problem_for(problem_, strategy));
    ASSERT_EQ(strategy.groups.size(), shown_->grouping->size());
    EXPECT_NO_THROW(validate(strategy, *shown_->grouping, *shown_->cluster));
  }
  const Decision& decision_of(OpId op) {
    return *strategy_.groups[(shown_ ? *shown_ : problem_).grouping->group_of(op)];
  }

  const Problem problem_ = nested_chain(600, 6);
  std::unique_ptr<Problem> shown_;
  Strategy strategy_;
  std::vector<Nanos> times_;
};

TEST_F(RegroupTest, MergedGroupsAreDecidedAsTheFirst) {
  const auto& groups = *problem_.grouping;
  const OpId in_second = groups.group(GroupId(1)).ops[0],
             in_fourth = groups.group(GroupId(3)).ops[0],
             in_fifth = groups.group(GroupId(4)).ops[0];
  const Decision second = decision_of(in_second), fifth = decision_of(in_fifth);
  take(merged(from(), std::vector{GroupId(3), GroupId(1)}));
  EXPECT_EQ(shown_->grouping->size(), 5u);
  EXPECT_EQ(shown_->grouping->group_of(in_second), shown_->grouping->group_of(in_fourth));
  EXPECT_EQ(decision_of(in_fourth), second);
  EXPECT_EQ(decision_of(in_fifth), fifth);
}

TEST_F(RegroupTest, SplitAndMergedAgainItIsTheStrategyThatItWas) {
  const Strategy before = strategy_;
  const std::vector<OpId> ops = problem_.grouping->group(GroupId(2)).ops;
  take(split_by_scopes(from(), GroupId(2)));
  EXPECT_GT(shown_->grouping->size(), 6u);
  std::set<GroupId> parts;
  for (const OpId op : ops) parts.insert(shown_->grouping->group_of(op));
  take(merged(from(), std::vector<GroupId>(parts.begin(), parts.end())));
  EXPECT_EQ(strategy_, before);
  EXPECT_EQ(strategy_.grouping, nullptr);
}

TEST_F(RegroupTest, SplitAtALayer) {
  const std::vector<OpId> ops = problem_.grouping->group(GroupId(0)).ops;
  const OpId at = ops[30];
  take(split_at(from(), at));
  EXPECT_EQ(shown_->grouping->size(), 7u);
  for (const OpId op : ops)
    EXPECT_EQ(shown_->grouping->group_of(op) == shown_->grouping->group_of(at), op >= at);
}

TEST_F(RegroupTest, WhatCannotBeDoneIsTold) {
  EXPECT_THROW(merged(from(), std::vector{GroupId(0)}), InputError);
  EXPECT_THROW(split_at(from(), problem_.grouping->group(GroupId(0)).ops[0]), InputError);
  const Problem single = isolated_ops(2, 2);
  Strategy strategy;
  strategy.groups.assign(2, decision_on_device(DeviceId(0)));
  const Regrouping one{single, single, strategy, times_};
  EXPECT_THROW(split_by_scopes(one, GroupId(0)), InputError);
}

TEST_F(RegroupTest, OpsApartAreAGroupOfEachGroupThatTheyWereIn) {
  const std::vector<OpId> first = problem_.grouping->group(GroupId(1)).ops,
                          second = problem_.grouping->group(GroupId(4)).ops;
  const std::vector<OpId> ops = {first[3], first[90], second[0]};
  take(with_ops_apart(from(), ops));
  const Grouping& now = *shown_->grouping;
  ASSERT_EQ(now.size(), 8u);
  EXPECT_EQ(now.group(now.group_of(first[3])).ops, (std::vector{first[3], first[90]}));
  EXPECT_EQ(now.group(now.group_of(second[0])).ops, std::vector{second[0]});
  EXPECT_EQ(decision_of(first[3]), decision_of(first[0]));
  EXPECT_EQ(decision_of(second[0]), decision_of(second[1]));
  const Strategy apart = strategy_;
  take(with_ops_apart(from(), ops));  // they are all of their groups by now
  EXPECT_EQ(strategy_, apart);
}

TEST_F(RegroupTest, AGroupAllApartIsTheGroupThatItWas) {
  const Strategy before = strategy_;
  take(with_ops_apart(from(), problem_.grouping->group(GroupId(2)).ops));
  EXPECT_EQ(strategy_, before);
  take(with_ops_apart(from(), {}));
  EXPECT_EQ(strategy_, before);
}

}  // namespace
}  // namespace strato
