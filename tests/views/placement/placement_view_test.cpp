// The placement matrix by hand: what a click would do, what it does, and what searches keep to.
#include "views/placement/placement_view.h"

#include <QAbstractItemModelTester>
#include <QDragEnterEvent>
#include <QDragMoveEvent>
#include <QDropEvent>
#include <QMenu>
#include <QTableView>
#include <QTest>

#include "core/search/constraints/bound_constraints.h"
#include "tests/views/models/fixture.h"
#include "views/drag/drag_start.h"
#include "views/models/drop_place.h"
#include "views/models/strategy_edits.h"
#include "views/placement/constraint_menu.h"
#include "views/placement/placement_preview.h"

namespace strato {
namespace {

class PlacementByHand : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(900, 400);
    view_.show();
  }

  QTableView& table() { return *view_.table(); }
  QModelIndex cell(int row, int device_group) {
    return table().model()->index(row, PlacementModel::FirstDeviceGroup + device_group);
  }
  GroupId group_in(int row) {
    return GroupId(static_cast<std::size_t>(
        table().model()->index(row, 0).data(PlacementModel::GroupRole).toInt()));
  }
  void rest_on(const QModelIndex& index) {
    QTest::mouseMove(table().viewport(), QPoint(2, 2));
    QTest::mouseMove(table().viewport(), table().visualRect(index).center());
  }
  bool told() { return view_.preview().preview().effect().has_value(); }
  QModelIndex in_model(int row, int column) {
    return view_.model()->index(group_in(row).value(), column);
  }

  void choose(const char* words, const std::vector<GroupId>& groups, DeviceGroupId device_group) {
    QMenu menu;
    add_constraint_actions(menu, session_, groups, device_group);
    for (QAction* action : menu.actions()) {
      if (!action->text().startsWith(QString::fromUtf8(words))) continue;
      ASSERT_TRUE(action->isEnabled()) << words;
      return action->trigger();
    }
    FAIL() << words;
  }

  PlacementView view_{session_};
};

TEST_F(PlacementByHand, TellsWhatAClickWouldDo) {
  open_lenet();
  const Nanos before = step_time();
  rest_on(cell(0, 1));
  ASSERT_TRUE(wait_until([&] { return told(); }));
  const EditEffect effect = *view_.preview().preview().effect();
  EXPECT_EQ(effect.before, before);
  EXPECT_TRUE(view_.preview().text().startsWith(QStringLiteral("Leave 1080ti-1:")));
  EXPECT_EQ(session_.undo_stack().count(), 0) << "nothing is done before the click";
  QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                    table().visualRect(cell(0, 1)).center());
  session_.settle();
  EXPECT_EQ(step_time(), effect.after) << "what was told is what came";
  EXPECT_EQ(session_.snapshot().strategy, effect.strategy);
  // The same cell now tells the way back.
  ASSERT_TRUE(wait_until([&] { return told(); }));
  EXPECT_EQ(view_.preview().preview().effect()->after, before);
}

TEST_F(PlacementByHand, TellsOfTheCellThatTheKeyboardIsOn) {
  open_lenet();
  table().setCurrentIndex(cell(1, 0));
  ASSERT_TRUE(wait_until([&] { return told(); }));
  EXPECT_TRUE(view_.preview().text().startsWith(QStringLiteral("Leave 1080ti-0:")));
  QTest::keyClick(&table(), Qt::Key_Space);
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 1);
}

TEST_F(PlacementByHand, AnswersToOldQuestionsAreDropped) {
  open_lenet();
  EditPreview& preview = view_.preview().preview();
  const Strategy now = session_.snapshot().strategy;
  const Strategy one =
      with_device_group(now, std::vector{GroupId(0)}, *problem().cluster, DeviceGroupId(0), false);
  const Strategy two =
      with_device_group(now, std::vector{GroupId(1)}, *problem().cluster, DeviceGroupId(1), false);
  preview.ask(one);
  preview.ask(two);
  ASSERT_TRUE(wait_until([&] { return preview.effect().has_value(); }));
  EXPECT_EQ(preview.effect()->strategy, two);
  preview.ask(one);
  preview.forget();
  preview.ask(now);  // nothing would change
  EXPECT_FALSE(preview.waits());
  EXPECT_TRUE(preview.text().isEmpty());
  preview.ask(one);
  session_.edit(two, QStringLiteral("two"));  // the question was about another strategy
  EXPECT_FALSE(preview.waits());
  session_.settle();
  EXPECT_FALSE(preview.effect());
}

TEST_F(PlacementByHand, PreviewsAreWhatTheSessionWouldShow) {
  open_lenet();
  EditPreview& preview = view_.preview().preview();
  for (const Simulation simulation :
       {Simulation{}, Simulation{TaskOrder::Priority, false}, Simulation{TaskOrder::Fifo, true}}) {
    session_.set_simulation(simulation);
    session_.settle();
    for (std::size_t g = 0; g < 3; ++g) {
      const Strategy wanted =
          with_mode(session_.snapshot().strategy, std::vector{GroupId(g)}, Mode::ModelParallel);
      preview.ask(wanted);
      ASSERT_TRUE(wait_until([&] { return preview.effect().has_value(); }));
      EXPECT_EQ(preview.effect()->after,
                simulate_as(*session_.snapshot().opened, wanted, simulation).timeline->step_time);
      EXPECT_EQ(preview.effect()->before, step_time());
    }
  }
}

TEST_F(PlacementByHand, WithoutAProblemThereIsNothingToTell) {
  view_.preview().preview().ask(Strategy());
  EXPECT_FALSE(view_.preview().preview().waits());
  QMenu menu;
  add_constraint_actions(menu, session_, {GroupId(0)}, DeviceGroupId(0));
  EXPECT_TRUE(menu.actions().isEmpty());
  EXPECT_FALSE(session_.constrain({}, QString()));
}

TEST_F(PlacementByHand, RolesAreForbiddenAndAllowedAgain) {
  open_lenet();
  const auto role = [&](const char* words, const std::vector<GroupId>& groups, bool ticked) {
    QMenu menu;
    add_constraint_actions(menu, session_, groups, {});
    for (QAction* action : menu.findChild<QMenu*>()->actions()) {
      if (action->text() != QString::fromUtf8(words)) continue;
      EXPECT_EQ(action->isChecked(), ticked) << words;
      return action->trigger();
    }
    FAIL() << words;
  };
  role("Tensor Parallelism", {group_in(0), group_in(1)}, false);
  ASSERT_NE(session_.constraints(), nullptr);
  EXPECT_EQ(session_.constraints()->forbidden.at(0).roles, std::vector{Role::Tensor});
  EXPECT_EQ(session_.constraints()->forbidden.at(0).of.name, "2 groups");
  EXPECT_FALSE(in_model(0, 0).data(PlacementModel::ViolatedRole).toBool());
  session_.edit(
      with_role(session_.snapshot().strategy, std::vector{group_in(0)}, MeshRole::Tensor, 2),
      QStringLiteral("two together"));
  session_.settle();
  EXPECT_TRUE(in_model(0, 0).data(PlacementModel::ViolatedRole).toBool());
  EXPECT_EQ(in_model(0, PlacementModel::ModeOfGroup).data().toString(), QStringLiteral("TP 2"));
  EXPECT_TRUE(in_model(0, PlacementModel::ModeOfGroup)
                  .data(Qt::ToolTipRole)
                  .toString()
                  .startsWith(QStringLiteral("AllReduce, tensor 2, on")));
  // Of all groups it is of every op, and so of the pipeline as a whole.
  std::vector<GroupId> all;
  for (std::size_t g = 0; g < problem().grouping->size(); ++g) all.emplace_back(g);
  role("Pipelining", all, false);
  EXPECT_TRUE(forbids_everywhere(*session_.constraints(), Role::Pipeline));
  role("Pipelining", {group_in(3)}, true);
  EXPECT_EQ(session_.constraints()->size(), 1u);
  role("Tensor Parallelism", {group_in(1)}, true);
  EXPECT_TRUE(!session_.constraints() || session_.constraints()->empty());
  while (session_.undo_stack().canUndo()) session_.undo_stack().undo();
  EXPECT_TRUE(!session_.constraints() || session_.constraints()->empty());
}

TEST_F(PlacementByHand, DemandsAreMarkedAndUndone) {
  open_lenet();
  const QAbstractItemModelTester tester(view_.model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  choose("Keep This Decision", {group_in(0)}, {});
  choose("Never on", {group_in(1)}, DeviceGroupId(1));
  choose("Decide Together", {group_in(2), group_in(3)}, {});
  ASSERT_NE(session_.constraints(), nullptr);
  EXPECT_EQ(session_.constraints()->size(), 3u);
  EXPECT_TRUE(in_model(0, 0).data(PlacementModel::PinnedRole).toBool());
  EXPECT_FALSE(in_model(1, 0).data(PlacementModel::PinnedRole).toBool());
  const int second = PlacementModel::FirstDeviceGroup + 1;
  EXPECT_TRUE(in_model(1, second).data(PlacementModel::ForbiddenRole).toBool());
  EXPECT_FALSE(in_model(0, second).data(PlacementModel::ForbiddenRole).toBool());
  EXPECT_TRUE(in_model(1, 0).data(PlacementModel::ViolatedRole).toBool()) << "it is still there";
  EXPECT_TRUE(in_model(2, 0).data(PlacementModel::TogetherRole).toBool());
  EXPECT_TRUE(in_model(1, second).data(Qt::ToolTipRole).toString().contains("(not kept)"));
  view_.grab();  // the marks are painted
  for (int i = 0; i < 3; ++i) session_.undo_stack().undo();
  EXPECT_EQ(session_.constraints(), nullptr);
  EXPECT_FALSE(in_model(0, 0).data(PlacementModel::PinnedRole).toBool());
  for (int i = 0; i < 3; ++i) session_.undo_stack().redo();
  choose("Allow", {group_in(1)}, DeviceGroupId(1));
  EXPECT_FALSE(in_model(1, second).data(PlacementModel::ForbiddenRole).toBool());
  choose("Lift", {group_in(0), group_in(2)}, {});
  EXPECT_EQ(session_.constraints(), nullptr);
}

TEST_F(PlacementByHand, ADemandThatContradictsIsRefused) {
  open_lenet();
  choose("Keep This Decision", {group_in(0)}, {});
  choose("Never on", {group_in(0)}, DeviceGroupId(0));
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_[0].contains(QStringLiteral("contradict")));
  EXPECT_EQ(session_.constraints()->size(), 1u);
  EXPECT_EQ(session_.undo_stack().count(), 1);
}

TEST_F(PlacementByHand, EditsByHandMayBreakThem) {
  open_lenet();
  choose("Keep This Decision", {group_in(0)}, {});
  QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                    table().visualRect(cell(0, 0)).center());
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 2);
  EXPECT_TRUE(in_model(0, 0).data(PlacementModel::ViolatedRole).toBool());
  EXPECT_TRUE(failures_.isEmpty());
}

TEST_F(PlacementByHand, GroupsAreDraggedOntoDevices) {
  open_lenet();
  PlacementModel& model = *view_.model();
  const std::unique_ptr<QMimeData> data(model.mimeData({model.index(0, 0), model.index(2, 0)}));
  EXPECT_EQ(dragged(*data, problem()), (Carried{{GroupId(0), GroupId(2)}, {}}));
  const int column = PlacementModel::FirstDeviceGroup + 1;
  EXPECT_FALSE(model.canDropMimeData(data.get(), Qt::MoveAction, -1, -1, model.index(0, 0)));
  EXPECT_TRUE(model.canDropMimeData(data.get(), Qt::MoveAction, -1, -1, model.index(4, column)));
  // On the way, what it would do; then it is done, as one step.
  const QPoint at = table().visualRect(cell(0, 1)).center();
  QDragEnterEvent enter(at, Qt::MoveAction, data.get(), Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(table().viewport(), &enter);
  QDragMoveEvent move(at, Qt::MoveAction, data.get(), Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(table().viewport(), &move);
  ASSERT_TRUE(wait_until([&] { return told(); }));
  const EditEffect effect = *view_.preview().preview().effect();
  EXPECT_TRUE(view_.preview().text().startsWith(QStringLiteral("2 groups on 1080ti-1:")));
  ASSERT_TRUE(move.isAccepted()) << "else no drop comes";
  QDropEvent drop(at, Qt::MoveAction, data.get(), Qt::LeftButton, Qt::NoModifier);
  drop.ignore();
  QCoreApplication::sendEvent(table().viewport(), &drop);
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, effect.strategy);
  EXPECT_EQ(step_time(), effect.after);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  // Of other groups, damaged, or nothing at all.
  session_.regroup(3);
  session_.settle();
  EXPECT_TRUE(dragged(*data, problem()).is_empty());
  QMimeData other;
  EXPECT_TRUE(dragged(other, problem()).is_empty());
  other.setData(drag_type(), QByteArray("\x00\x00\x01", 3));
  EXPECT_TRUE(dragged(other, problem()).is_empty());
}

TEST_F(PlacementByHand, RowsAreCarriedUnderAChip) {
  open_lenet();
  Carried carried;
  carry_with([&](const QMimeData& data) { carried = dragged(data, problem()); });
  const QModelIndex name = table().model()->index(1, PlacementModel::Name);
  const QPoint at = table().visualRect(name).center();
  QTest::mousePress(table().viewport(), Qt::LeftButton, {}, at);
  for (const int distance : {20, 40, 60}) {
    QMouseEvent move(QEvent::MouseMove, at + QPoint(distance, 8),
                     table().viewport()->mapToGlobal(at + QPoint(distance, 8)), Qt::NoButton,
                     Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(table().viewport(), &move);
  }
  carry_with(nullptr);
  QTest::mouseRelease(table().viewport(), Qt::LeftButton, {}, at);
  EXPECT_EQ(carried, (Carried{{group_in(1)}, {}}));
}

TEST_F(PlacementByHand, SearchesKeepToThem) {
  open_workspace();
  open_lenet();
  const GroupId group = group_in(0);
  choose("Never on", {group}, DeviceGroupId(1));
  PlannerOptions options;
  options.iterations = 40;
  session_.start_search(QStringLiteral("mcts"), options);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  for (const DeviceShare& share : session_.snapshot().strategy.groups[group]->devices)
    EXPECT_EQ(problem().cluster->device(share.device).group, DeviceGroupId(0));
  EXPECT_NE(session_.search_options().constraints, nullptr);
}

TEST_F(PlacementByHand, AreThereAgainWithTheWorkspace) {
  open_workspace();
  open_lenet();
  choose("Never on", {group_in(0)}, DeviceGroupId(1));
  const Constraints wanted = *session_.constraints();
  session_.edit(with_mode(session_.snapshot().strategy, std::vector{group_in(2)}, Mode::Duplicate),
                QStringLiteral("something to open the workspace with"));
  session_.settle();
  {
    Session other;
    other.open_workspace(folder_.filePath("test.strata").toStdString(), true);
    other.settle();
    ASSERT_TRUE(other.snapshot().problem);
    ASSERT_NE(other.constraints(), nullptr);
    EXPECT_EQ(*other.constraints(), wanted);
    other.regroup(3);
    other.settle();
    ASSERT_NE(other.constraints(), nullptr) << "they are about ops, not groups";
    EXPECT_EQ(*other.constraints(), wanted);
  }
}

}  // namespace
}  // namespace strato
