#include <QSignalSpy>

#include "tests/views/models/fixture.h"
#include "tests/views/models/model_tester.h"
#include "views/models/op_table_model.h"
#include "views/models/placement_model.h"
#include "views/models/strategy_edits.h"
#include "views/models/workspace_model.h"

namespace strato {
namespace {

using ItemModels = SessionTest;
TEST_F(ItemModels, PlacementFollowsTheStrategy) {
  PlacementModel model(session_);
  const QAbstractItemModelTester tester(&model, kFatal);
  EXPECT_EQ(model.rowCount(), 0);
  open_lenet();
  ASSERT_EQ(model.rowCount(), static_cast<int>(problem().grouping->size()));
  ASSERT_EQ(model.columnCount(), PlacementModel::FirstDeviceGroup +
                                     static_cast<int>(problem().cluster->groups().size()));
  const QModelIndex cell = model.index(0, PlacementModel::FirstDeviceGroup);
  EXPECT_DOUBLE_EQ(cell.data(PlacementModel::ShareRole).toDouble(), 0.5);
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  model.toggle({GroupId(0)}, DeviceGroupId(0), false);
  EXPECT_GE(changed.count(), 1);
  EXPECT_EQ(cell.data(PlacementModel::UsedRole).toInt(), 0);
  EXPECT_DOUBLE_EQ(
      cell.siblingAtColumn(cell.column() + 1).data(PlacementModel::ShareRole).toDouble(), 1);
  session_.undo_stack().undo();
  EXPECT_GT(cell.data(PlacementModel::UsedRole).toInt(), 0);
}

TEST_F(ItemModels, TheLastDeviceGroupStays) {
  PlacementModel model(session_);
  open_lenet();
  QSignalSpy message(&session_, &Session::message);
  model.toggle({GroupId(0)}, DeviceGroupId(0), false);
  model.toggle({GroupId(0)}, DeviceGroupId(1), false);
  EXPECT_EQ(message.count(), 1);
  EXPECT_TRUE(session_.snapshot().strategy.groups[GroupId(0)]->devices.size() > 0);
  EXPECT_EQ(session_.undo_stack().count(), 1);
}

TEST_F(ItemModels, WeightsAndModesAreEditedInPlace) {
  PlacementModel model(session_);
  const QAbstractItemModelTester tester(&model, kFatal);
  open_lenet();
  const QModelIndex cell = model.index(0, PlacementModel::FirstDeviceGroup);
  EXPECT_TRUE(model.setData(cell, 3, Qt::EditRole));
  EXPECT_DOUBLE_EQ(cell.data(PlacementModel::ShareRole).toDouble(), 0.75);
  EXPECT_FALSE(model.setData(cell, 0, Qt::EditRole));
  EXPECT_FALSE(model.setData(cell, "fast", Qt::EditRole));
  const QModelIndex mode = model.index(0, PlacementModel::ModeOfGroup);
  EXPECT_TRUE(model.setData(mode, static_cast<int>(Mode::Duplicate), Qt::EditRole));
  EXPECT_FALSE(model.setData(mode, 17, Qt::EditRole));
  EXPECT_FALSE(model.flags(cell) & Qt::ItemIsEditable);  // duplicates have no weights
  EXPECT_DOUBLE_EQ(cell.data(PlacementModel::ShareRole).toDouble(), 1);
}

TEST_F(ItemModels, OpsOfAGroup) {
  OpTableModel model(session_);
  const QAbstractItemModelTester tester(&model, kFatal);
  open_lenet();
  model.show(GroupId(0));
  EXPECT_EQ(model.rowCount(), static_cast<int>(problem().grouping->group(GroupId(0)).ops.size()));
  Nanos total;
  for (int row = 0; row < model.rowCount(); ++row) {
    total.value += model.index(row, OpTableModel::Time).data(OpTableModel::SortRole).toLongLong();
  }
  EXPECT_GT(total, Nanos(0));
  session_.open_cluster(sample("clusters/gdp.json"));
  session_.settle();
  EXPECT_EQ(model.rowCount(), 0);  // another problem: the group is gone
}

TEST_F(ItemModels, WorkspaceShowsRunsAndTheEditsBelowThem) {
  WorkspaceModel model(session_);
  const QAbstractItemModelTester tester(&model, kFatal);
  EXPECT_EQ(model.rowCount(), 0);
  open_workspace();
  open_lenet();
  session_.start_search("dp-allreduce-proportional", {});
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "by hand");
  session_.settle();
  session_.settle();
  const auto section = [&](const char* name) {
    for (int row = 0; row < model.rowCount(); ++row) {
      if (model.index(row, 0).data() == name) return model.index(row, 0);
    }
    return QModelIndex();
  };
  EXPECT_EQ(model.rowCount(section("Models")), 1);
  EXPECT_EQ(model.index(0, 0, section("Models")).data(), "lenet, batch 16");
  EXPECT_EQ(model.rowCount(section("Clusters")), 1);
  ASSERT_EQ(model.rowCount(section("Runs")), 1);
  EXPECT_EQ(model.index(0, 0, section("Runs")).data(), "dp-allreduce-proportional #1");
  const QModelIndex run = model.index(0, 0, section("Runs"));
  ASSERT_EQ(model.rowCount(run), 1);
  const QModelIndex edit = model.index(0, 0, run);
  EXPECT_EQ(edit.data(), "by hand");
  EXPECT_TRUE(model.setData(edit, "renamed", Qt::EditRole));
  session_.settle();
  EXPECT_EQ(session_.workspace()->strategies().back().label, "renamed");
  const QModelIndex same_run =
      model.index(0, 0, section("Runs"));  // the rename has reset the model
  EXPECT_FALSE(model.setData(same_run, "no", Qt::EditRole));

  // Of two batches, each says of which it is.
  ImportOptions import;
  import.batch = 32;
  session_.open_model(sample("models/lenet.onnx"), import, *session_.problem_options());
  session_.settle();
  session_.start_search("dp-allreduce-proportional", {});
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  session_.settle();
  ASSERT_EQ(model.rowCount(section("Models")), 2);
  EXPECT_EQ(model.index(1, 0, section("Models")).data(), "lenet, batch 32");
  ASSERT_EQ(model.rowCount(section("Runs")), 2);
  EXPECT_EQ(model.index(0, 0, section("Runs")).data(),
            "dp-allreduce-proportional #2 · lenet, batch 32 on TAG two 1080 Ti");
}

// What takes part in the step shown, as the inspector says it.
TEST_F(ItemModels, PlacementTellsWhatComputingTakesNow) {
  open_lenet();
  const PlacementModel model(session_);
  const auto told = [&] {
    const Snapshot& shown = session_.snapshot();
    for (const GroupId group : problem().grouping->groups().ids())
      EXPECT_EQ(model.index(group.value(), PlacementModel::Time)
                    .data(PlacementModel::SortRole)
                    .toLongLong(),
                group_times(*shown.outcome->timeline, *problem().grouping, group).compute.value);
    return model.index(0, PlacementModel::Time).data(PlacementModel::SortRole).toLongLong();
  };
  const auto before = told();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "by hand");
  session_.settle();
  EXPECT_NE(told(), before);
}

}  // namespace
}  // namespace strato
