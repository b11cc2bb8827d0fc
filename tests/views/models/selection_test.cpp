#include "views/models/selection.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

namespace strato {
namespace {

TEST(Selection, ExtendingTogglesAndKeepsOrder) {
  Selection selection;
  QSignalSpy changed(&selection, &Selection::changed);
  selection.select_group(GroupId(5));
  selection.select_group(GroupId(2), true);
  EXPECT_EQ(selection.groups(), (std::vector{GroupId(2), GroupId(5)}));
  selection.select_group(GroupId(5), true);
  EXPECT_EQ(selection.groups(), std::vector{GroupId(2)});
  EXPECT_EQ(changed.count(), 3);
}

TEST(Selection, TheSameSelectionIsNotAChange) {
  Selection selection;
  selection.select_groups({GroupId(3), GroupId(1), GroupId(3)});
  QSignalSpy changed(&selection, &Selection::changed);
  selection.select_groups({GroupId(1), GroupId(3)});
  selection.select_device(DeviceId(1));
  selection.select_device(DeviceId(1));
  EXPECT_EQ(changed.count(), 1);
}

TEST(Selection, ATaskSelectsItsGroupAndADeviceReplacesBoth) {
  Selection selection;
  selection.select_task(TaskId(7), OpId(4), GroupId(2));
  EXPECT_EQ(selection.task(), TaskId(7));
  EXPECT_EQ(selection.op(), OpId(4));
  EXPECT_TRUE(selection.contains(GroupId(2)));
  selection.select_device(DeviceId(0));
  EXPECT_FALSE(selection.task());
  EXPECT_TRUE(selection.groups().empty());
}

TEST(Selection, AnotherOutcomeForgetsTheTaskButNotTheOp) {
  Selection selection;
  selection.select_task(TaskId(7), OpId(4), GroupId(2));
  selection.drop_task();
  EXPECT_FALSE(selection.task());
  EXPECT_EQ(selection.op(), OpId(4));
}

TEST(Selection, SeveralOpsAreNotOneOp) {
  Selection selection;
  QSignalSpy changed(&selection, &Selection::changed);
  selection.select_ops({OpId(7), OpId(2), OpId(7)}, {GroupId(3), GroupId(1)});
  selection.select_ops({OpId(2), OpId(7)}, {GroupId(1), GroupId(3)});
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(selection.ops(), (std::vector{OpId(2), OpId(7)}));
  EXPECT_EQ(selection.groups(), (std::vector{GroupId(1), GroupId(3)}));
  EXPECT_TRUE(selection.contains(OpId(7)));
  EXPECT_FALSE(selection.contains(OpId(3)));
  EXPECT_FALSE(selection.op());
  selection.select_op(OpId(7), GroupId(3));
  EXPECT_EQ(selection.op(), OpId(7));
  EXPECT_EQ(selection.groups(), std::vector{GroupId(3)});
  selection.select_ops({}, {GroupId(1)});  // the group as a whole
  EXPECT_TRUE(selection.ops().empty());
  EXPECT_EQ(selection.groups(), std::vector{GroupId(1)});
  selection.select_ops({OpId(2)}, {GroupId(1)});
  selection.select_device(DeviceId(0));
  EXPECT_TRUE(selection.ops().empty());
  EXPECT_TRUE(selection.groups().empty());
  EXPECT_EQ(changed.count(), 5);
}

TEST(Selection, ClearForgetsAllAndSaysSoOnce) {
  Selection selection;
  selection.select_op(OpId(1), GroupId(0));
  selection.select_range(TimeRange{Nanos(1), Nanos(2)});
  selection.hover_group(GroupId(3));
  QSignalSpy changed(&selection, &Selection::changed);
  QSignalSpy range(&selection, &Selection::range_changed);
  selection.clear();
  selection.clear();
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(range.count(), 1);
  EXPECT_FALSE(selection.hovered_group());
}

}  // namespace
}  // namespace strato
