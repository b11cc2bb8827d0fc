// The Compare view: its tables, and a story driven through real events.
#include "views/compare/compare_view.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QtTest>

#include "core/io/file.h"
#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"
#include "views/compare/change_delegate.h"
#include "views/compare/change_table.h"
#include "views/compare/plans_page.h"
#include "views/compare/waterfall.h"

namespace strato {
namespace {

class CompareViewTest : public SessionTest {
 protected:
  CompareViewTest() : second_(session_), view_(session_, second_) { view_.resize(800, 400); }

  void settle() {
    session_.settle();
    view_.model().settle();
  }
  void show() {
    view_.show();
    settle();
  }
  void put_group_on(std::size_t group, DeviceId device) {
    session_.decide({GroupId(group)}, decision_on_device(device), QStringLiteral("one device"));
  }
  const PlanComparison& comparison() { return view_.model().shown()->comparison; }

  SecondPlan second_;
  CompareView view_;
};

TEST_F(CompareViewTest, SaysWhatToDoWithoutAModel) {
  show();
  EXPECT_TRUE(view_.sentence().contains("Open a model"));
  EXPECT_FALSE(view_.pages().isVisible());
}

TEST_F(CompareViewTest, DataParallelBesideItselfIsTheSame) {
  open_lenet();
  show();
  ASSERT_TRUE(view_.model().shown());
  EXPECT_TRUE(view_.sentence().startsWith("The same")) << view_.sentence().toStdString();
  EXPECT_EQ(view_.groups().model()->rowCount(), 0);
  EXPECT_EQ(view_.waterfall().rows().size(), 2u);
}

TEST_F(CompareViewTest, AnEditIsCompared) {
  open_lenet();
  show();
  put_group_on(1, DeviceId(0));
  settle();
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
  EXPECT_EQ(comparison().differing_groups(), 1u);
  ASSERT_EQ(view_.groups().model()->rowCount(), 1);
  EXPECT_GT(view_.waterfall().rows().size(), 2u);
  EXPECT_TRUE(view_.pages().tabText(1).contains("(1)"));
  session_.undo_stack().undo();
  settle();
  EXPECT_EQ(view_.groups().model()->rowCount(), 0);
}

TEST_F(CompareViewTest, NamesThatAreCutKeepTheirEnds) {
  struct Looked : ChangeDelegate {
    using ChangeDelegate::initStyleOption;
  } delegate;
  open_lenet();
  show();
  put_group_on(1, DeviceId(0));
  settle();
  QStyleOptionViewItem option;
  delegate.initStyleOption(&option, view_.variables().model()->index(0, 0));
  EXPECT_EQ(option.textElideMode, Qt::ElideLeft);
  EXPECT_EQ(view_.variables().horizontalHeader()->textElideMode(), Qt::ElideMiddle);
}

TEST_F(CompareViewTest, WorksOnlyWhileItIsSeen) {
  open_lenet();
  settle();
  EXPECT_FALSE(second_.plan());
  show();
  EXPECT_TRUE(second_.plan());
  view_.hide();
  put_group_on(0, DeviceId(1));
  settle();
  EXPECT_NE(comparison().plans.to.step_time, step_time());
  show();
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
}

TEST_F(CompareViewTest, AClickSelectsTheGroupAndTheSelectionTheRow) {
  open_lenet();
  put_group_on(2, DeviceId(0));
  put_group_on(3, DeviceId(1));
  show();
  view_.pages().setCurrentIndex(1);
  QTableView& table = view_.groups();
  ASSERT_EQ(table.model()->rowCount(), 2);
  table.sortByColumn(0, Qt::AscendingOrder);
  for (int row = 0; row < 2; ++row) {
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                      table.visualRect(table.model()->index(row, 0)).center());
    ASSERT_EQ(session_.selection().groups().size(), 1u);
    const GroupId group = session_.selection().groups().front();
    EXPECT_EQ(table.model()->index(row, 0).data().toString().toStdString(),
              problem().grouping->group(group).name);
  }
  session_.selection().select_group(GroupId(2));
  EXPECT_EQ(table.currentIndex().data().toString().toStdString(),
            problem().grouping->group(GroupId(2)).name);
  QTest::keyClick(&table, table.currentIndex().row() == 0 ? Qt::Key_Down : Qt::Key_Up);
  EXPECT_EQ(session_.selection().groups(), std::vector{GroupId(3)});
}

TEST_F(CompareViewTest, WhatIsAlikeIsShownWhenAsked) {
  open_lenet();
  put_group_on(0, DeviceId(0));
  show();
  EXPECT_EQ(view_.groups().model()->rowCount(), 1);
  view_.findChild<QCheckBox*>()->setChecked(true);
  EXPECT_EQ(view_.groups().model()->rowCount(), static_cast<int>(problem().grouping->size()));
}

// Variables, too: those that are alike are there when they are asked for.
TEST_F(CompareViewTest, VariablesThatAreAlikeAreShownWhenAsked) {
  open_lenet();
  put_group_on(0, DeviceId(0));
  show();
  const int differing = view_.variables().model()->rowCount();
  EXPECT_EQ(differing, static_cast<int>(comparison().differing_variables()));
  view_.findChild<QCheckBox*>()->setChecked(true);
  EXPECT_GT(view_.variables().model()->rowCount(), differing);
  EXPECT_EQ(view_.variables().model()->rowCount(), static_cast<int>(comparison().variables.size()));
}

TEST_F(CompareViewTest, TheListChoosesWhatIsComparedWith) {
  open_lenet();
  put_group_on(0, DeviceId(0));
  settle();
  put_group_on(1, DeviceId(0));
  show();
  EXPECT_EQ(comparison().differing_groups(), 2u);
  QComboBox* choices = &view_.choices();
  choices->setFocus();
  choices->showPopup();
  choices->hidePopup();
  ASSERT_GE(choices->count(), 2);
  choices->setCurrentIndex(1);  // before the last change
  emit choices->activated(1);
  settle();
  EXPECT_EQ(comparison().differing_groups(), 1u);
}

TEST_F(CompareViewTest, APlanThatIsGoneSaysWhy) {
  open_lenet();
  show();
  second_.choose({SecondChoice::What::File, 0, "/nowhere/plan.json"});
  settle();
  EXPECT_FALSE(view_.model().shown());
  bool said = false;
  for (const QLabel* label : view_.findChildren<QLabel*>())
    said |= label->text().contains("/nowhere/plan.json");
  EXPECT_TRUE(said);
  second_.choose({});
  settle();
  EXPECT_TRUE(view_.model().shown());
}

TEST_F(CompareViewTest, GroupsOfItsOwnAndAnotherCluster) {
  open_lenet();
  show();
  Strategy divided = session_.snapshot().strategy;
  const Grouping& before = *problem().grouping;
  std::vector<std::int32_t> group_of(problem().graph->op_count());
  for (std::size_t i = 0; i < group_of.size(); ++i)
    group_of[i] =
        i == 3 ? static_cast<std::int32_t>(before.size()) : before.group_of(OpId(i)).value();
  divided.grouping = std::make_shared<const Grouping>(
      *problem().graph, group_of,
      mean_op_times(*problem().graph, *problem().cluster, *problem().cost));
  divided.groups.assign(divided.grouping->size(), divided.groups.front());
  divided.groups[divided.grouping->group_of(OpId(3))] = decision_on_device(DeviceId(1));
  session_.show_found(divided, QStringLiteral("divided"));
  settle();
  EXPECT_EQ(comparison().differing_groups(), 1u);
  EXPECT_TRUE(view_.model().has_ids_of_session());
  session_.open_cluster(sample("clusters/mixed-a100-l40s.json"));
  settle();
  EXPECT_EQ(comparison().plans.to.cluster, session_.snapshot().problem->cluster->name());
  EXPECT_TRUE(view_.model().has_ids_of_session());
}

TEST_F(CompareViewTest, FollowsTheWayOfSimulating) {
  open_lenet();
  put_group_on(0, DeviceId(0));
  show();
  session_.set_simulation({TaskOrder::Priority, true});
  settle();
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
  EXPECT_EQ(comparison().plans.from.step_time, session_.snapshot().baseline->timeline->step_time);
}

TEST_F(CompareViewTest, TheReportIsWritten) {
  open_lenet();
  put_group_on(0, DeviceId(0));
  const std::filesystem::path file = folder_.filePath("report.html").toStdString();
  view_.model().save_report(file);  // nothing to write yet
  show();
  EXPECT_FALSE(std::filesystem::exists(file));
  view_.model().save_report(file);
  settle();
  EXPECT_NE(read_file(file).find("</html>"), std::string::npos);
  view_.model().save_report("/nowhere/report.html");
  settle();
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_.front().contains("/nowhere/report.html"));
}

TEST_F(CompareViewTest, ManyEditsLeaveTheLastOne) {
  open_lenet();
  show();
  for (int i = 0; i < 30; ++i)
    put_group_on(static_cast<std::size_t>(i % 4), DeviceId(static_cast<std::size_t>(i % 2)));
  for (int i = 0; i < 10; ++i) session_.undo_stack().undo();
  settle();
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
  EXPECT_EQ(view_.model().busy(), false);
}

TEST_F(CompareViewTest, ClosesDuringItsWork) {
  open_lenet();
  for (int i = 0; i < 5; ++i) {
    auto* second = new SecondPlan(session_);
    CompareView view(session_, *second);
    view.show();
    put_group_on(0, DeviceId(static_cast<std::size_t>(i % 2)));
    if (i % 2 == 0) delete second;  // first, as a window's children may go
    view.hide();
    if (i % 2 != 0) delete second;
  }
  settle();
}

TEST(ChangeTable, IsAModelWhateverItShows) {
  ChangeTable table;
  ChangeFilter filter;
  filter.setSourceModel(&table);
  QAbstractItemModelTester strict(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
  QAbstractItemModelTester sorted(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
  PlanComparison comparison;
  table.show(group_rows(comparison));
  EXPECT_EQ(table.rowCount(), 0);
  GroupChange group;
  group.name = std::string(10000, 'x');
  group.decision = {"-", "on a"};
  group.differs = true;
  group.on_path = {Nanos(5), Nanos(3)};
  comparison.groups = {group, GroupChange()};
  comparison.devices = {DeviceChange()};
  comparison.traffic = {TrafficChange()};
  comparison.variables = {VariableChange()};
  PlanMatrix matrix;
  matrix.plans.resize(3);
  MatrixRow row;
  row.decisions = {"-", std::string(10000, 'x'), ""};
  row.times.resize(3);
  matrix.groups = {row};
  for (const ChangeContent& content :
       {group_rows(comparison), variable_rows(comparison), device_rows(comparison),
        traffic_rows(comparison), plan_rows(matrix), plan_rows(PlanMatrix()),
        matrix_rows(matrix, matrix.groups), matrix_rows(PlanMatrix(), {})}) {
    table.show(content);
    filter.show_all(true);
    EXPECT_EQ(filter.rowCount(), table.rowCount());
    for (int column = 0; column < filter.columnCount(); ++column) filter.sort(column);
    filter.show_all(false);
    EXPECT_EQ(filter.rowCount(), table.differing());
  }
}

// The largest change first, whatever its sign.
TEST(ChangeTable, SortsChangesByTheirSize) {
  ChangeTable table;
  ChangeFilter filter;
  filter.setSourceModel(&table);
  PlanComparison comparison;
  for (const std::int64_t change : {5, -70, 30}) {
    GroupChange group;
    group.name = std::to_string(change);
    group.differs = true;
    group.on_path = {Nanos(100), Nanos(100 + change)};
    comparison.groups.push_back(group);
  }
  table.show(group_rows(comparison));
  filter.sort(4, Qt::DescendingOrder);
  EXPECT_EQ(filter.index(0, 0).data().toString(), "-70");
  EXPECT_EQ(filter.index(1, 0).data().toString(), "30");
}

class PlansPageTest : public CompareViewTest {
 protected:
  PlansPage& page() { return view_.plans(); }
  PlanSet& plans() { return page().plans(); }
  void open_page() {
    show();
    view_.pages().setCurrentWidget(&page());
    plans().settle();
  }
  // As the menu offers it.
  QAction* offer(const QString& words) {
    emit page().add_menu().aboutToShow();
    for (QAction* action : page().add_menu().actions())
      if (action->text().contains(words)) return action;
    return nullptr;
  }
  void add(const QString& words) {
    QAction* action = offer(words);
    ASSERT_TRUE(action) << words.toStdString();
    action->trigger();
    plans().settle();
  }
  int row_of(const QString& label) {
    for (int row = 0; row < page().table().model()->rowCount(); ++row)
      if (page().table().model()->index(row, 0).data().toString().contains(label)) return row;
    return -1;
  }
  void click(const QString& label, Qt::KeyboardModifiers keys = {}) {
    QTableView& table = page().table();
    QTest::mouseClick(table.viewport(), Qt::LeftButton, keys,
                      table.visualRect(table.model()->index(row_of(label), 0)).center());
  }
};

TEST_F(PlansPageTest, SeveralPlansAreSideBySide) {
  open_workspace();
  open_lenet();
  put_group_on(0, DeviceId(0));
  settle();
  session_.edit(on_one_device(problem(), DeviceId(0)), QStringLiteral("alone"));
  settle();
  open_page();
  EXPECT_EQ(page().table().model()->rowCount(), 1);  // the plan shown
  add(QStringLiteral("Data parallel"));
  EXPECT_FALSE(offer(QStringLiteral("Data parallel"))->isEnabled());  // once is enough
  add(QStringLiteral("Before the last change"));
  ASSERT_EQ(page().table().model()->rowCount(), 3);
  const PlanMatrix& matrix = plans().shown()->matrix;
  EXPECT_EQ(matrix.plans.back().figures.step_time, step_time());
  EXPECT_EQ(matrix.plans.front().figures.step_time,
            session_.snapshot().baseline->timeline->step_time);
  EXPECT_EQ(page().rows().model()->columnCount(), 4);
  EXPECT_GT(page().rows().model()->rowCount(), 0);
  page().what().setCurrentIndex(1);
  EXPECT_EQ(page().rows().model()->rowCount(),
            static_cast<int>(std::ranges::count_if(matrix.variables, &MatrixRow::differs)));
}

// Two rows, and their waterfall: from the upper one to the lower one.
TEST_F(PlansPageTest, AnyTwoAreChosenForTheWaterfall) {
  open_lenet();
  put_group_on(0, DeviceId(0));
  settle();
  session_.edit(on_one_device(problem(), DeviceId(0)), QStringLiteral("alone"));
  settle();
  open_page();
  add(QStringLiteral("Data parallel"));
  add(QStringLiteral("Before the last change"));
  EXPECT_FALSE(page().compare_button().isEnabled());
  click(QStringLiteral("Data parallel"));
  click(QStringLiteral("before the last change"), Qt::ControlModifier);
  ASSERT_TRUE(page().compare_button().isEnabled());
  QTest::mouseClick(&page().compare_button(), Qt::LeftButton);
  settle();
  EXPECT_EQ(view_.pages().currentIndex(), 0);
  ASSERT_EQ(plans().shown()->matrix.plans.size(), 3u);
  EXPECT_EQ(comparison().plans.from.step_time, session_.snapshot().baseline->timeline->step_time);
  EXPECT_EQ(comparison().plans.to.step_time, plans().shown()->matrix.plans[1].figures.step_time);
  EXPECT_NE(comparison().plans.to.step_time, step_time());
  // With the plan shown, that is what is compared to.
  view_.pages().setCurrentWidget(&page());
  plans().settle();
  page().table().clearSelection();
  click(QStringLiteral("Data parallel"));
  QTest::mouseClick(&page().compare_button(), Qt::LeftButton);
  settle();
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
  // The target goes: the plan shown is compared to again.
  view_.choose_pair(SecondChoice{}, SecondChoice{SecondChoice::What::BeforeChange, 0, {}});
  settle();
  EXPECT_NE(comparison().plans.to.step_time, step_time());
  plans().remove({SecondChoice::What::BeforeChange, 0, {}});
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  settle();
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
}

TEST_F(PlansPageTest, FollowsEditsAndLetsGo) {
  open_lenet();
  open_page();
  add(QStringLiteral("Data parallel"));
  plans().add({SecondChoice::What::File, 0, "/nowhere/plan.json"});
  plans().settle();
  EXPECT_EQ(page().table().model()->rowCount(), 2);
  EXPECT_EQ(plans().problems().size(), 1);
  put_group_on(1, DeviceId(0));
  settle();
  plans().settle();
  EXPECT_EQ(plans().shown()->matrix.plans.back().figures.step_time, step_time());
  session_.set_simulation({TaskOrder::Fifo, true});
  settle();
  plans().settle();
  EXPECT_EQ(plans().shown()->matrix.plans.size(), 2u);
  EXPECT_EQ(plans().shown()->matrix.plans.back().figures.step_time, step_time());
  click(QStringLiteral("Data parallel"));
  QTest::mouseClick(&page().remove_button(), Qt::LeftButton);
  plans().settle();
  EXPECT_EQ(page().table().model()->rowCount(), 1);
  // Another cluster: the file is still not there, and nothing is left of the old problem.
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  settle();
  plans().settle();
  EXPECT_EQ(plans().shown()->matrix.plans.back().figures.cluster, problem().cluster->name());
  EXPECT_TRUE(plans().has_ids_of_session());
}

// As many as can be, rows of a workspace that is closed, and an end in the middle of it all.
TEST_F(PlansPageTest, AllOfThemBecomeAPage) {
  open_lenet();
  put_group_on(0, DeviceId(0));
  put_group_on(1, DeviceId(1));
  settle();
  open_page();
  add(QStringLiteral("Data parallel"));
  add(QStringLiteral("Before the last change"));
  EXPECT_TRUE(view_.report_button().isEnabled());
  EXPECT_TRUE(view_.report_button().toolTip().startsWith(QStringLiteral("All these plans")));
  const std::filesystem::path file = folder_.filePath("plans.html").toStdString();
  plans().save_report(file);
  plans().settle();
  const std::string page = read_file(file);
  EXPECT_NE(page.find("3 plans of"), std::string::npos);
  for (const MatrixPlan& plan : plans().shown()->matrix.plans)
    EXPECT_NE(page.find("<h3>" + plan.figures.label + "</h3>"), std::string::npos);
  plans().save_report("/nowhere/plans.html");
  plans().settle();
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_.front().contains("/nowhere/plans.html"));
  failures_.clear();
  view_.pages().setCurrentIndex(0);
  EXPECT_TRUE(view_.report_button().toolTip().startsWith(QStringLiteral("The comparison")));
}

TEST_F(PlansPageTest, ManyPlansAndAnotherWorkspace) {
  open_workspace();
  open_lenet();
  for (std::size_t i = 0; i < 12; ++i) {  // each another strategy
    put_group_on(i % 6, DeviceId(i / 6));
    settle();
  }
  open_page();
  ASSERT_TRUE(session_.workspace());
  std::size_t added = 0;
  for (const StoredStrategy& strategy : session_.workspace()->strategies())
    added += plans().add({SecondChoice::What::Strategy, strategy.id, {}}) ? 1 : 0;
  EXPECT_EQ(added, PlanSet::kMost);
  plans().settle();
  EXPECT_EQ(page().table().model()->rowCount(), static_cast<int>(PlanSet::kMost) + 1);
  EXPECT_FALSE(plans().add({}));
  for (int column = 0; column < page().table().model()->columnCount(); ++column)
    page().table().sortByColumn(column, Qt::AscendingOrder);
  session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  settle();
  plans().settle();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  plans().settle();
  EXPECT_TRUE(plans().members().empty());
  plans().add({});
  put_group_on(2, DeviceId(1));  // and closed while it works
}

}  // namespace
}  // namespace strato
