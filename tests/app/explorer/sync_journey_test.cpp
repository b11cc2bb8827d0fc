// A person divides a variable and changes how it is synchronised in the real window, then lets the
// planners that learn search, and looks at their curves.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "app/explorer/main_window.h"
#include "core/base/error.h"
#include "tests/app/explorer/sample.h"
#include "views/charts/charts_view.h"
#include "views/charts/course_charts.h"
#include "views/inspector/part_list.h"
#include "views/inspector/sync_form.h"
#include "views/inspector/variables_view.h"

namespace strato {
namespace {

class SyncJourney : public ::testing::Test {
 protected:
  SyncJourney() : window(session, false) {
    QObject::connect(&session, &Session::failed, [this](const QString& text) { failed << text; });
    window.resize(1280, 800);
    window.show();
    session.open_workspace(folder.filePath(QStringLiteral("journey.strata")).toStdString(), false);
    window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    opened = QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience);
    session.settle();
  }

  // The view of the window that is as wide as a view, not the one in the inspector.
  VariablesView* variables() {
    for (auto* view : window.findChildren<VariablesView*>())
      if (view->isVisible() && view->filter().isVisible()) return view;
    return nullptr;
  }

  static void choose(QComboBox& box, int index) {
    box.setFocus();
    QTest::keyClick(&box, Qt::Key_Home);
    for (int tries = 0; box.currentIndex() < index && tries < 10; ++tries)
      QTest::keyClick(&box, Qt::Key_Down);
    ASSERT_EQ(box.currentIndex(), index);
  }
  static void type(QSpinBox& box, const QString& text) {
    box.selectAll();
    QTest::keyClicks(&box, text);
    QTest::keyClick(&box, Qt::Key_Return);
  }

  bool has(const std::string& planner) {
    for (const PluginInfo& info : session.plugins().list(PluginKind::Planner))
      if (info.name == planner) return true;
    return false;
  }

  void search(const char* planner) {
    PlannerOptions options;
    options.iterations = 90;
    session.start_search(QString::fromUtf8(planner), options);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return session.search().state == SearchPhase::Idle; }, kPatience));
    session.settle();
    ASSERT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
  }

  QTemporaryDir folder;
  Session session;
  MainWindow window;
  QStringList failed;
  bool opened = false;
};

TEST_F(SyncJourney, AVariableIsDividedAndEachPartGoesItsOwnWay) {
  ASSERT_TRUE(opened);
  QTest::keyClick(&window, Qt::Key_2, Qt::ControlModifier);
  QTest::keyClick(&window, Qt::Key_2, Qt::AltModifier);
  VariablesView* view = variables();
  ASSERT_TRUE(view) << "Ctrl+2, Alt+2 shows the variables";
  const Nanos before = session.snapshot().outcome->timeline->step_time;
  view->table().selectRow(0);
  SyncForm& form = view->form();
  ASSERT_TRUE(form.parts().isEnabled());
  type(form.parts(), QStringLiteral("2"));
  ASSERT_TRUE(form.part_list().isVisible());
  form.part_list().item(1)->setSelected(true);
  ASSERT_NO_FATAL_FAILURE(choose(form.synchroniser(), 2));
  session.settle();
  const auto& synced = session.snapshot().strategy.variables;
  ASSERT_EQ(synced.size(), 1u);
  ASSERT_EQ(synced[0].parts.size(), 2u);
  EXPECT_EQ(synced[0].parts[0].synchroniser, Synchroniser::AllReduce);
  EXPECT_EQ(synced[0].parts[1].synchroniser, Synchroniser::Ps);
  const Nanos edited = session.snapshot().outcome->timeline->step_time;
  EXPECT_NE(edited, before);
  EXPECT_FALSE(window.grab().isNull());
  session.undo_stack().undo();
  session.undo_stack().undo();
  session.settle();
  EXPECT_EQ(session.snapshot().outcome->timeline->step_time, before);
  session.undo_stack().redo();
  session.undo_stack().redo();
  session.settle();
  EXPECT_EQ(session.snapshot().outcome->timeline->step_time, edited);
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
}

TEST_F(SyncJourney, ThePlannersThatLearnDrawTheirCourse) {
  ASSERT_TRUE(opened);
  if (!has("autodist") || !has("gdp")) GTEST_SKIP() << "built without LibTorch";
  auto* charts = window.findChild<ChartsView*>();
  ASSERT_TRUE(charts);
  auto* course = charts->findChild<CourseCharts*>();
  ASSERT_TRUE(course);
  const auto titles = [&] {
    QStringList all;
    for (const PlanResult::Curve& curve : session.search().curves)
      all << QString::fromStdString(curve.title);
    all.removeDuplicates();
    return all;
  };
  ASSERT_NO_FATAL_FAILURE(search("autodist"));
  EXPECT_FALSE(titles().isEmpty());
  QTest::keyClick(&window, Qt::Key_1, Qt::ControlModifier);
  QTest::keyClick(&window, Qt::Key_3, Qt::AltModifier);
  ASSERT_TRUE(charts->isVisible());
  ASSERT_TRUE(QTest::qWaitFor([&] { return course->chart_count() == titles().size(); }, kPatience));
  ASSERT_NO_FATAL_FAILURE(search("gdp"));
  EXPECT_TRUE(titles().contains(QStringLiteral("Reward")));
  EXPECT_TRUE(titles().contains(QStringLiteral("Entropy of the policy")));
  ASSERT_TRUE(QTest::qWaitFor([&] { return course->chart_count() == titles().size(); }, kPatience));
  EXPECT_FALSE(window.grab().isNull());
  // The first run again, from the workspace.
  const auto runs = session.workspace()->runs();
  ASSERT_EQ(runs.size(), 2u);
  session.show_run(runs[0].planner == "autodist" ? runs[0].id : runs[1].id);
  session.settle();
  EXPECT_FALSE(titles().contains(QStringLiteral("Reward")));
  EXPECT_FALSE(titles().isEmpty());
}

}  // namespace
}  // namespace strato
