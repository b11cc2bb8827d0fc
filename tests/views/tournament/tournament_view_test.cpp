#include "views/tournament/tournament_view.h"

#include <QAction>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTest>

#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/tournament/tournament_delegate.h"

namespace strato {
namespace {

class TournamentInAView : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(1000, 400);
    view_.show();
  }

  void run_to_the_end(const std::vector<std::string>& planners) {
    view_.planner_menu().choose(planners);
    QTest::mouseClick(&button(), Qt::LeftButton);
    ASSERT_TRUE(wait_until([&] { return !view_.model().running(); }));
  }
  QPushButton& button() { return *view_.findChild<QPushButton*>(); }
  QTableView& table() { return view_.table(); }
  QString name_at(int row) {
    return table().model()->index(row, TournamentModel::PlannerName).data().toString();
  }
  void click(int row) {
    const QRect cell = table().visualRect(table().model()->index(row, TournamentModel::StepTime));
    QTest::mouseClick(table().viewport(), Qt::LeftButton, {}, cell.center());
  }
  bool says(const QString& part) {
    for (const QLabel* label : view_.findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(part)) return true;
    return false;
  }

  Gate gate_;
  TournamentView view_{session_, tiny_planners(), tiny_factory(gate_)};
};

TEST(SpeedupScale, IsLinearAndEndsBehindTheBound) {
  const SpeedupScale scale = speedup_scale(QRectF(100, 0, 200, 20), 50, 4);
  EXPECT_DOUBLE_EQ(scale.x(0), 150);
  EXPECT_LT(scale.x(4), scale.right);
  EXPECT_NEAR(scale.x(4) - scale.x(2), scale.x(2) - scale.x(0), 1e-9);
  EXPECT_DOUBLE_EQ(scale.x(400), scale.right);
  EXPECT_LE(scale.right, 300);
  const SpeedupScale narrow = speedup_scale(QRectF(100, 0, 20, 20), 50, 0);
  EXPECT_DOUBLE_EQ(narrow.x(1), narrow.left);
}

TEST_F(TournamentInAView, SaysWhatToDo) {
  EXPECT_TRUE(says(QStringLiteral("Open a model and a cluster")));
  EXPECT_FALSE(button().isEnabled());
  open_lenet();
  EXPECT_TRUE(says(QStringLiteral("Run compares the 3 chosen ones")));
  EXPECT_TRUE(button().isEnabled());
  view_.planner_menu().choose({});
  EXPECT_TRUE(says(QStringLiteral("Choose above")));
  EXPECT_FALSE(button().isEnabled());
}

TEST_F(TournamentInAView, PlannersAreChosenByEffort) {
  PlannerMenu& menu = view_.planner_menu();
  EXPECT_EQ(menu.chosen(), (std::vector<std::string>{"dp", "dp-again", "one"}));
  const auto trigger = [&](const char* name) {
    for (QAction* action : menu.menu()->actions())
      if (action->text() == QString::fromUtf8(name)) return action->trigger();
    FAIL() << name;
  };
  trigger("All");
  EXPECT_EQ(menu.chosen().size(), 5u);
  trigger("None");
  EXPECT_TRUE(menu.chosen().empty());
  trigger("waits");
  EXPECT_EQ(menu.chosen(), std::vector<std::string>{"waits"});
  trigger("All Quick");
  EXPECT_EQ(menu.chosen().size(), 3u);
  EXPECT_TRUE(menu.text().startsWith(QStringLiteral("3 of 5")));
}

TEST_F(TournamentInAView, TwoSearchesAreAmongThoseThatAreChosenAtFirst) {
  std::vector<PluginInfo> planners = tiny_planners();
  for (const char* name : {"mcmc", "mcts", "tag"})
    planners.push_back({PluginKind::Planner, name, {}, {}, {}, Effort::Search});
  PlannerMenu menu(planners);
  EXPECT_EQ(menu.chosen(), (std::vector<std::string>{"dp", "dp-again", "one", "mcts", "tag"}));
  menu.choose({});
  for (QAction* action : menu.menu()->actions())
    if (action->text() == QStringLiteral("Usual")) action->trigger();
  EXPECT_EQ(menu.chosen().size(), 5u);
}

TEST_F(TournamentInAView, AClickShowsAndUndoUnmarks) {
  open_lenet();
  run_to_the_end({"one", "refuses"});
  ASSERT_EQ(name_at(0), "one");
  EXPECT_TRUE(says(QStringLiteral("2 of 2")));
  click(0);
  EXPECT_EQ(session_.snapshot().strategy, all_on(problem(), 0));
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_TRUE(says(QStringLiteral("one: ")));
  session_.undo_stack().undo();
  EXPECT_FALSE(table().selectionModel()->hasSelection());
  session_.undo_stack().redo();
  EXPECT_TRUE(table().selectionModel()->isRowSelected(0));
  EXPECT_EQ(session_.undo_stack().count(), 1);  // following is not showing
  click(1);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_TRUE(says(QStringLiteral("it has no use for lenet")));
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty());
}

TEST_F(TournamentInAView, FocusAloneShowsNothing) {
  open_lenet();
  run_to_the_end({"one", "dp"});
  table().selectionModel()->clear();
  const int count = session_.undo_stack().count();
  view_.activateWindow();
  table().setFocus();
  QCoreApplication::processEvents();
  EXPECT_EQ(session_.undo_stack().count(), count);
  EXPECT_FALSE(table().selectionModel()->hasSelection());
  QTest::keyClick(&table(), Qt::Key_Down);
  EXPECT_TRUE(table().selectionModel()->hasSelection());
}

TEST_F(TournamentInAView, ChoosingARowStaysWithItAsRowsMove) {
  open_lenet();
  view_.planner_menu().choose({"one", "dp", "waits"});
  QTest::mouseClick(&button(), Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return view_.model().progress().done == 2; }));
  const int row = name_at(0) == "one" ? 0 : 1;
  click(row);
  EXPECT_EQ(session_.snapshot().label, "one");
  gate_.open();
  ASSERT_TRUE(wait_until([&] { return !view_.model().running(); }));
  const QModelIndexList selected = table().selectionModel()->selectedRows();
  ASSERT_EQ(selected.size(), 1);
  EXPECT_EQ(name_at(selected[0].row()), "one");
  EXPECT_EQ(session_.snapshot().label, "one");
}

TEST_F(TournamentInAView, EnterKeepsAndADoubleClickDoesOnce) {
  open_workspace();
  open_lenet();
  run_to_the_end({"one"});
  click(0);
  QTest::keyClick(&table(), Qt::Key_Return);
  ASSERT_TRUE(wait_until([&] { return says(QStringLiteral("Kept in the workspace as one #")); }));
  const QRect cell = table().visualRect(table().model()->index(0, TournamentModel::StepTime));
  QTest::mouseDClick(table().viewport(), Qt::LeftButton, {}, cell.center());
  session_.settle();
  EXPECT_EQ(session_.workspace()->runs().size(), 1u);
}

TEST_F(TournamentInAView, StopsAndRunsAgain) {
  open_lenet();
  view_.planner_menu().choose({"waits"});
  view_.run_or_stop();
  EXPECT_EQ(button().text(), "Stop");
  EXPECT_FALSE(view_.planner_menu().isEnabled());
  ASSERT_TRUE(
      wait_until([&] { return view_.model().state(0) == TournamentModel::RowState::Running; }));
  EXPECT_FALSE(view_.grab().isNull());
  view_.run_or_stop();
  EXPECT_FALSE(button().isEnabled());
  ASSERT_TRUE(wait_until([&] { return !view_.model().running(); }));
  EXPECT_EQ(button().text(), "Run");
  view_.set_budget(QStringLiteral("a while"));
  view_.run_or_stop();
  EXPECT_FALSE(view_.model().running());
  view_.set_budget(QStringLiteral("5 s"));
  gate_.open();
  view_.run_or_stop();
  ASSERT_TRUE(wait_until([&] { return !view_.model().running(); }));
}

TEST_F(TournamentInAView, SortsByAColumnAndBack) {
  open_lenet();
  run_to_the_end({"one", "dp", "refuses"});
  QStringList ranked;
  for (int row = 0; row < 3; ++row) ranked << name_at(row);
  table().sortByColumn(TournamentModel::PlannerName, Qt::DescendingOrder);
  EXPECT_EQ(name_at(0), "refuses");
  table().sortByColumn(-1, Qt::AscendingOrder);
  for (int row = 0; row < 3; ++row) EXPECT_EQ(name_at(row), ranked[row]);
  EXPECT_FALSE(view_.grab().isNull());
}

TEST_F(TournamentInAView, NarrowViewsKeepWhatMatters) {
  open_lenet();
  run_to_the_end({"one"});
  view_.resize(420, 300);
  QCoreApplication::processEvents();
  EXPECT_TRUE(table().isColumnHidden(TournamentModel::TimeToBest));
  EXPECT_FALSE(table().isColumnHidden(TournamentModel::Speedup));
  view_.resize(1600, 300);
  QCoreApplication::processEvents();
  EXPECT_FALSE(table().isColumnHidden(TournamentModel::TimeToBest));
}

}  // namespace
}  // namespace strato
