// A person holds plans of a workspace beside each other in the real window: reads what makes the
// difference, walks what is decided otherwise, sees both timelines on one scale, and saves the
// page.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QUndoStack>

#include "app/explorer/main_window.h"
#include "app/explorer/places/centre.h"
#include "core/io/file.h"
#include "core/search/evaluate/baselines.h"
#include "tests/app/explorer/by_hand.h"
#include "tests/app/explorer/sample.h"
#include "views/compare/compare_view.h"
#include "views/compare/plans_page.h"
#include "views/compare/waterfall.h"
#include "views/graph/group_graph_view.h"
#include "views/models/second_plan.h"
#include "views/placement/placement_view.h"
#include "views/style/style.h"
#include "views/timeline/second_timeline.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

class CompareJourney : public ::testing::Test {
 protected:
  CompareJourney() : window(session, false) {
    QObject::connect(&session, &Session::failed, [this](const QString& text) { failed << text; });
    window.resize(1280, 800);
    window.show();
    view = window.findChild<CompareView*>();
    second = window.findChild<SecondPlan*>();
  }
  // Two strategies that are stored, and what is shown: a third.
  void SetUp() override {
    ASSERT_TRUE(view && second);
    session.open_workspace(folder.filePath(QStringLiteral("journey.strata")).toStdString(), false);
    window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
    session.settle();
    session.edit(on_one_device(problem(), DeviceId(1)), QStringLiteral("alone"));
    session.settle();
    alone = step_time();
    session.edit(data_parallel(problem(), Mode::ReplicatePs), QStringLiteral("with PS"));
    session.settle();
    session.decide({GroupId(0), GroupId(1), GroupId(2)}, decision_on_device(DeviceId(0)),
                   QStringLiteral("some at 0"));
    session.settle();
    QTest::keyClick(&window, Qt::Key_4, Qt::ControlModifier);
    ASSERT_TRUE(view->isVisible()) << "Ctrl+4 shows Compare";
    QTest::mouseClick(view->findChild<QPushButton*>(QStringLiteral("two-graphs")), Qt::LeftButton);
    settle();
  }
  void TearDown() override { EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString(); }

  void settle() {
    session.settle();
    view->model().settle();
    view->plans().plans().settle();
    session.settle();
  }
  const Problem& problem() { return *session.snapshot().problem; }
  Nanos step_time() { return session.snapshot().outcome->timeline->step_time; }
  const PlanComparison& comparison() { return view->model().shown()->comparison; }

  // From a list or menu that is gone: there is no window system that does it.
  void take_back_focus() {
    settle();
    QCoreApplication::processEvents();
    QApplication::setActiveWindow(&window);
  }

  // From the list, which is filled when it opens.
  void compare_with(const QString& plan) {
    QComboBox& box = view->choices();
    box.setFocus();
    QTest::keyClick(&box, Qt::Key_F4);
    ASSERT_TRUE(box.view()->isVisible()) << "F4 opens the list";
    QAbstractItemView* list = box.view();
    QTest::keyClick(list, Qt::Key_Home);
    for (int i = 0; i < box.count() && list->currentIndex().data().toString() != plan; ++i)
      QTest::keyClick(list, Qt::Key_Down);
    ASSERT_EQ(list->currentIndex().data().toString().toStdString(), plan.toStdString());
    QTest::keyClick(list, Qt::Key_Return);
    take_back_focus();
    ASSERT_TRUE(view->model().shown());
    ASSERT_EQ(comparison().plans.from.label, plan.toStdString());
  }
  // The menu does not return before something is chosen in it.
  void add_plan(const QString& plan) {
    const std::size_t before = view->plans().plans().members().size();
    QTimer::singleShot(0, qApp, [this, plan] { choose_in_menu(plan, 500); });
    for (auto* button : view->plans().findChildren<QToolButton*>())
      if (button->menu() == &view->plans().add_menu()) press_by_letter(*button);
    take_back_focus();
    ASSERT_EQ(view->plans().plans().members().size(), before + 1) << plan.toStdString();
  }
  void choose_in_menu(const QString& plan, int tries) {
    QMenu& menu = view->plans().add_menu();
    if (!menu.isVisible()) {
      if (tries > 0) QTimer::singleShot(10, qApp, [=, this] { choose_in_menu(plan, tries - 1); });
      return;
    }
    for (int i = 0; i < menu.actions().size(); ++i) {
      QTest::keyClick(&menu, Qt::Key_Down);
      if (menu.activeAction() && menu.activeAction()->text() == plan)
        return QTest::keyClick(&menu, Qt::Key_Return);
    }
    ADD_FAILURE() << "the menu does not offer " << plan.toStdString();
    QTest::keyClick(&menu, Qt::Key_Escape);
  }
  void open_tab(const QString& name) {
    QTabWidget& pages = view->pages();
    for (int i = 0; i < pages.count(); ++i)
      if (pages.tabText(i).startsWith(name))
        QTest::mouseClick(pages.tabBar(), Qt::LeftButton, {}, pages.tabBar()->tabRect(i).center());
    settle();
    ASSERT_TRUE(pages.tabText(pages.currentIndex()).startsWith(name));
  }
  // Every row in turn by the arrow key: the group that it names is the one selected everywhere.
  void expect_walk_selects(QTableView& table) {
    const QAbstractItemModel& rows = *table.model();
    ASSERT_GE(rows.rowCount(), 2);
    table.setFocus();
    QTest::keyClick(&table, Qt::Key_Home, Qt::ControlModifier);
    for (int row = 0; row < rows.rowCount(); ++row) {
      if (row > 0) QTest::keyClick(&table, Qt::Key_Down);
      ASSERT_EQ(table.currentIndex().row(), row);
      const std::string name = rows.index(row, 0).data().toString().toStdString();
      const std::vector<GroupId>& groups = session.selection().groups();
      ASSERT_EQ(groups.size(), 1u) << name;
      EXPECT_EQ(problem().grouping->group(groups.front()).name, name);
      EXPECT_TRUE(window.findChild<GroupGraphView*>()->isVisible());  // beside it
      const auto selected =
          window.findChild<PlacementView*>()->table()->selectionModel()->selectedRows();
      ASSERT_EQ(selected.size(), 1) << name;
      EXPECT_TRUE(selected[0].data().toString().contains(QString::fromStdString(name)))
          << selected[0].data().toString().toStdString() << " for " << name;
    }
  }
  static std::string save(const std::filesystem::path& file, QPushButton& button) {
    name_the_file(QString::fromStdString(file.string()));
    QTest::mouseClick(&button, Qt::LeftButton);
    return file.string();
  }

  QTemporaryDir folder;
  QStringList failed;
  Session session;
  MainWindow window;
  CompareView* view = nullptr;
  SecondPlan* second = nullptr;
  Nanos alone;
};

// At once, while no dock is shown; and back.
TEST_F(CompareJourney, FitsIntoASmallWindow) {
  for (const QSize size : {QSize(800, 600), QSize(1280, 800), QSize(800, 600)}) {
    window.resize(size);
    settle();
    EXPECT_EQ(window.size(), size);
    EXPECT_TRUE(view->isVisible());
  }
  EXPECT_LE(window.minimumSizeHint().width(), 800);
  EXPECT_EQ(window.minimumWidth(), 0);
}

TEST_F(CompareJourney, TwoPlansInWordsAsAWaterfallAndByGroup) {
  ASSERT_NO_FATAL_FAILURE(compare_with(QStringLiteral("alone")));
  EXPECT_EQ(view->choices().currentText(), QStringLiteral("alone"));
  EXPECT_EQ(comparison().plans.from.step_time, alone);
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
  EXPECT_EQ(view->sentence().toStdString(), comparison().sentence);
  const bool faster = step_time() < alone;
  EXPECT_TRUE(
      view->sentence().contains(faster ? QStringLiteral("faster") : QStringLiteral("slower")))
      << view->sentence().toStdString();
  bool figures = false;
  for (const QLabel* label : view->findChildren<QLabel*>())
    figures |=
        label->isVisible() && label->text().contains(style::time(alone) + QStringLiteral(" → ") +
                                                     style::time(step_time()));
  EXPECT_TRUE(figures);
  // The bars lead from one step to the other without a gap.
  const auto& bars = view->waterfall().rows();
  ASSERT_GE(bars.size(), 3u);
  EXPECT_TRUE(view->waterfall().isVisible());
  EXPECT_EQ(bars.front().end, alone);
  EXPECT_EQ(bars.back().end, step_time());
  Nanos at = alone;
  for (std::size_t i = 1; i + 1 < bars.size(); ++i) {
    const bool more = bars[i].kind == WaterfallRow::Kind::More;
    EXPECT_EQ(more ? bars[i].begin : bars[i].end, at) << bars[i].label.toStdString();
    at = more ? bars[i].end : bars[i].begin;
  }
  EXPECT_EQ(at, step_time());

  ASSERT_NO_FATAL_FAILURE(open_tab(QStringLiteral("Groups")));
  EXPECT_EQ(view->groups().model()->rowCount(), static_cast<int>(comparison().differing_groups()));
  ASSERT_NO_FATAL_FAILURE(expect_walk_selects(view->groups()));
  // What is selected elsewhere is the row here.
  const GroupId last(problem().grouping->size() - 1);
  session.selection().select_group(last);
  EXPECT_EQ(view->groups().currentIndex().siblingAtColumn(0).data().toString().toStdString(),
            problem().grouping->group(last).name);
  // An edit that is taken back is followed.
  const Nanos before = step_time();
  const int done = session.undo_stack().index();
  QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
  settle();
  EXPECT_EQ(session.undo_stack().index(), done - 1);
  EXPECT_NE(step_time(), before) << session.snapshot().label.toStdString();
  EXPECT_EQ(comparison().plans.to.step_time, step_time());
  EXPECT_EQ(view->sentence().toStdString(), comparison().sentence);
}

TEST_F(CompareJourney, AButtonLeadsToTheTwoGraphs) {
  auto* graph = window.findChild<GroupGraphView*>();
  window.findChild<Centre*>()->usual_layout();
  EXPECT_FALSE(graph->isVisible());
  EXPECT_FALSE(graph->shows_beside());
  QTest::mouseClick(view->findChild<QPushButton*>(QStringLiteral("two-graphs")), Qt::LeftButton);
  EXPECT_TRUE(graph->shows_beside());
  EXPECT_TRUE(graph->isVisible());
  EXPECT_TRUE(view->isVisible());
}

TEST_F(CompareJourney, BothTimelinesMoveTogether) {
  ASSERT_NO_FATAL_FAILURE(compare_with(QStringLiteral("alone")));
  auto* timeline = window.findChild<TimelineView*>();
  ASSERT_TRUE(timeline);
  TimelineCanvas &first = timeline->canvas(), &other = timeline->second().canvas();
  QTest::keyClick(&first, Qt::Key_C);
  ASSERT_TRUE(QTest::qWaitFor([&] { return other.isVisible() && other.rows(); }, kPatience));
  settle();
  EXPECT_EQ(first.rows()->timeline->step_time, step_time());
  EXPECT_EQ(other.rows()->timeline->step_time, alone);
  const auto alike = [&] {
    return first.mapping().begin == other.mapping().begin &&
           first.mapping().ns_per_px == other.mapping().ns_per_px;
  };
  EXPECT_TRUE(alike());
  for (int i = 0; i < 4; ++i) QTest::keyClick(&first, Qt::Key_W);
  EXPECT_TRUE(alike());
  for (auto [canvas, key] :
       {std::pair(&first, Qt::Key_D), {&other, Qt::Key_D}, {&first, Qt::Key_A}}) {
    const double begin = first.mapping().begin;
    QTest::keyClick(canvas, key);
    EXPECT_NE(first.mapping().begin, begin);
    EXPECT_TRUE(alike());
  }
  // By the mouse, in either one.
  for (TimelineCanvas* canvas : {&other, &first}) {
    QWidget* area = canvas->viewport();
    const QPoint from(area->width() * 2 / 3, area->height() / 2);
    const double begin = first.mapping().begin;
    QTest::mousePress(area, Qt::LeftButton, Qt::ShiftModifier, from);
    QMouseEvent move(QEvent::MouseMove, from - QPoint(40, 0),
                     area->mapToGlobal(from - QPoint(40, 0)), Qt::NoButton, Qt::LeftButton,
                     Qt::ShiftModifier);
    QApplication::sendEvent(area, &move);
    QTest::mouseRelease(area, Qt::LeftButton, Qt::ShiftModifier, from - QPoint(40, 0));
    EXPECT_GT(first.mapping().begin, begin);
    EXPECT_TRUE(alike());
  }
  // Another plan to compare with is another second timeline, where the first was left.
  const double begin = first.mapping().begin;
  ASSERT_NO_FATAL_FAILURE(compare_with(QStringLiteral("Data parallel")));
  const Nanos wanted = session.snapshot().baseline->timeline->step_time;
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return other.rows() && other.rows()->timeline->step_time == wanted; }, kPatience));
  EXPECT_TRUE(alike());
  EXPECT_EQ(first.mapping().begin, begin);
  EXPECT_FALSE(window.grab().isNull());
  QTest::keyClick(&first, Qt::Key_C);
  EXPECT_FALSE(other.isVisible());
}

TEST_F(CompareJourney, SeveralPlansAndTheirPage) {
  ASSERT_NO_FATAL_FAILURE(open_tab(QStringLiteral("Plans")));
  QTableView& table = view->plans().table();
  EXPECT_EQ(table.model()->rowCount(), 1);  // the plan shown
  ASSERT_NO_FATAL_FAILURE(add_plan(QStringLiteral("Data parallel")));
  ASSERT_NO_FATAL_FAILURE(add_plan(QStringLiteral("alone")));
  ASSERT_NO_FATAL_FAILURE(add_plan(QStringLiteral("with PS")));
  ASSERT_EQ(table.model()->rowCount(), 4);
  const PlanMatrix& matrix = view->plans().plans().shown()->matrix;
  ASSERT_EQ(matrix.plans.size(), 4u);
  const Nanos steps[] = {session.snapshot().baseline->timeline->step_time, alone,
                         matrix.plans[2].figures.step_time, step_time()};
  for (std::size_t plan = 0; plan < 4; ++plan) {
    EXPECT_EQ(matrix.plans[plan].figures.step_time, steps[plan]);
    const int row = static_cast<int>(plan);
    EXPECT_TRUE(table.model()->index(row, 0).data().toString().contains(
        QString::fromStdString(matrix.plans[plan].figures.label)));
    bool told = false;
    for (int column = 1; column < table.model()->columnCount(); ++column)
      told |= table.model()->index(row, column).data().toString() == style::time(steps[plan]);
    EXPECT_TRUE(told) << style::time(steps[plan]).toStdString();
  }
  EXPECT_EQ(view->plans().rows().model()->columnCount(), 5);
  ASSERT_NO_FATAL_FAILURE(expect_walk_selects(view->plans().rows()));

  // Two of them by keys: the waterfall from one to the other.
  table.setFocus();
  QTest::keyClick(&table, Qt::Key_Home, Qt::ControlModifier);
  QTest::keyClick(&table, Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(table.selectionModel()->selectedRows().size(), 2);
  QTest::keyClick(&table, Qt::Key_Return);
  settle();
  EXPECT_EQ(view->pages().currentIndex(), 0);
  ASSERT_TRUE(view->model().shown());
  EXPECT_EQ(comparison().plans.from.step_time, steps[0]);
  EXPECT_EQ(comparison().plans.to.step_time, alone);
  EXPECT_EQ(view->waterfall().rows().back().end, alone);

  const std::filesystem::path pair = folder.filePath("pair.html").toStdString(),
                              all = folder.filePath("all.html").toStdString();
  save(pair, view->report_button());
  settle();
  ASSERT_TRUE(std::filesystem::exists(pair));
  const std::string page = read_file(pair);
  EXPECT_NE(page.find("</html>"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_NE(page.find("alone"), std::string::npos);
  EXPECT_EQ(page.find("with PS"), std::string::npos);

  ASSERT_NO_FATAL_FAILURE(open_tab(QStringLiteral("Plans")));
  save(all, view->report_button());
  settle();
  ASSERT_TRUE(std::filesystem::exists(all));
  const std::string many = read_file(all);
  EXPECT_NE(many.find("4 plans of"), std::string::npos);
  for (const MatrixPlan& plan : view->plans().plans().shown()->matrix.plans)
    EXPECT_NE(many.find("<h3>" + plan.figures.label + "</h3>"), std::string::npos)
        << plan.figures.label;
}

}  // namespace
}  // namespace strato
