// The whole window while strategies with groups of their own come and go: every view is drawn in
// each state.
#include <gtest/gtest.h>

#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <cstdlib>

#include "app/explorer/main_window.h"
#include "tests/app/explorer/each_view.h"
#include "tests/app/explorer/sample.h"
#include "tests/paths.h"
#include "views/placement/placement_view.h"

namespace strato {
namespace {

[[maybe_unused]] const int kPluginPath =
    setenv("STRATOSCOPE_PLUGIN_PATH", (std::string(kBuildFolder) + "/test_plugins").c_str(), 1);
class OwnGroupsInTheWindow : public ::testing::Test {
 protected:
  // More ops than groups, so that op-by-op divides some.
  OwnGroupsInTheWindow() : window_(session_, false) {
    QObject::connect(&session_, &Session::failed, [this](const QString& text) { failed_ << text; });
    window_.resize(1280, 800);
    window_.show();
    window_.open({sample("models/inception_v3.onnx"), sample("clusters/tag-testbed.json")});
    (void)QTest::qWaitFor([&] { return session_.snapshot().outcome != nullptr; }, kPatience);
    session_.settle();
  }

  void search(const char* planner) {
    PlannerOptions options;
    options.iterations = 40;
    session_.start_search(planner, options);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return session_.search().state == SearchPhase::Idle; }, kPatience));
    ASSERT_TRUE(failed_.isEmpty()) << failed_.join('\n').toStdString();
  }

  void draw_everything() {
    session_.settle();
    visit_views(window_, [this](const NamedView&, const std::string& keys) {
      QCoreApplication::processEvents();
      EXPECT_FALSE(window_.grab().isNull()) << keys;
    });
    const auto* placement = window_.findChild<PlacementView*>();
    ASSERT_TRUE(placement);
    EXPECT_EQ(placement->findChild<QTableView*>()->model()->rowCount(),
              static_cast<int>(session_.snapshot().problem->grouping->size()));
  }

  Session session_;
  MainWindow window_;
  QStringList failed_;
};

TEST_F(OwnGroupsInTheWindow, ComeAndGo) {
  ASSERT_TRUE(session_.snapshot().outcome);
  const auto opened = session_.snapshot().opened;
  session_.selection().select_group(GroupId(opened->grouping->size() - 1));
  draw_everything();
  ASSERT_NO_FATAL_FAILURE(search("op-by-op"));
  ASSERT_TRUE(session_.snapshot().has_own_groups());
  const GroupId last(session_.snapshot().problem->grouping->size() - 1);
  session_.selection().select_group(last);
  session_.selection().hover_group(last);
  draw_everything();
  session_.decide({last}, decision_on_device(DeviceId(5)), "move");
  draw_everything();
  session_.selection().hover_group(last);
  ASSERT_NO_FATAL_FAILURE(search("mcts"));
  EXPECT_FALSE(session_.snapshot().has_own_groups());
  draw_everything();
  while (session_.undo_stack().canUndo()) {
    session_.undo_stack().undo();
    draw_everything();
  }
  while (session_.undo_stack().canRedo()) session_.undo_stack().redo();
  draw_everything();
  EXPECT_EQ(session_.snapshot().opened, opened);
  EXPECT_TRUE(failed_.isEmpty()) << failed_.join('\n').toStdString();
}

}  // namespace
}  // namespace strato
