// A person steers a search in the real window by keys: search, pin, continue, boost, replay back
// and forward, close, open again: the tree is the same.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QFile>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

#include "app/explorer/main_window.h"
#include "core/search/tree/search_tree.h"
#include "tests/app/explorer/each_view.h"
#include "tests/app/explorer/sample.h"
#include "views/search/chip_row.h"
#include "views/search/puct_table.h"
#include "views/search/replay_panel.h"
#include "views/search/search_tree_view.h"
#include "views/search/steer_bar.h"
#include "views/timeline/search_panel.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

class SearchJourneyTest : public ::testing::Test {
 protected:
  struct Explorer {
    Explorer() : window(session, false) {
      QObject::connect(&session, &Session::failed, [this](const QString& text) { failed << text; });
      window.resize(1280, 800);
      window.show();
      search = window.findChild<SearchTreeView*>();
    }
    Session session;
    MainWindow window;
    SearchTreeView* search = nullptr;
    QStringList failed;
  };

  static void wait_for_end(Explorer& explorer) {
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return explorer.session.search().state == SearchPhase::Idle; }, kPatience));
    explorer.session.settle();
    ASSERT_TRUE(explorer.failed.isEmpty()) << explorer.failed.join('\n').toStdString();
  }

  static std::string bytes(const Explorer& explorer) { return serialise(*explorer.session.tree()); }

  QTemporaryDir folder_;
};

TEST_F(SearchJourneyTest, SearchPinContinueBoostReplayCloseReopen) {
  const QString file = folder_.filePath(QStringLiteral("journey.strata"));
  std::string kept;
  {
    Explorer explorer;
    Session& session = explorer.session;
    SearchTreeView& search = *explorer.search;
    session.open_workspace(file.toStdString(), false);
    explorer.window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
    session.settle();
    QTest::keyClick(&explorer.window, Qt::Key_3, Qt::ControlModifier);
    ASSERT_TRUE(search.isVisible());
    PlannerOptions options;
    options.iterations = 100;
    session.start_search(QStringLiteral("mcts"), options);
    ASSERT_NO_FATAL_FAILURE(wait_for_end(explorer));

    const std::vector<std::int32_t> best = session.tree()->best_path();
    ASSERT_GT(best.size(), 1u);
    search.choose(best[1]);
    QTreeView& tree = search.tree_view();
    QTest::keyClick(&tree, Qt::Key_P);
    EXPECT_EQ(session.steering().pinned.size(), 1u);
    EXPECT_EQ(search.steer_bar().chips().chips().size(), 1u);
    const auto before = session.tree()->iterations;
    QTest::keyClick(&explorer.window, Qt::Key_F5, Qt::ControlModifier);
    ASSERT_NO_FATAL_FAILURE(wait_for_end(explorer));
    EXPECT_GT(session.tree()->iterations, before);
    QTest::keyClick(&tree, Qt::Key_B);
    EXPECT_EQ(session.steering().weights.size(), 1u);

    QTest::keyClick(&tree, Qt::Key_R);
    ReplayPanel& replay = search.replay_panel();
    ASSERT_TRUE(replay.active());
    const std::size_t steps = replay.after().steps();
    ASSERT_GT(steps, 10u);
    for (int i = 0; i < 10; ++i) QTest::keyClick(&replay, Qt::Key_Left);
    EXPECT_EQ(replay.after().step(), steps - 10);
    EXPECT_GT(search.puct_table().model().rowCount(), 0);
    EXPECT_FALSE(explorer.window.grab().isNull());
    for (int i = 0; i < 10; ++i) QTest::keyClick(&replay, Qt::Key_Right);
    EXPECT_EQ(replay.after().step(), steps);
    QTest::keyClick(&replay, Qt::Key_Escape);
    EXPECT_FALSE(replay.active());
    session.settle();
    kept = bytes(explorer);
  }
  Explorer again;
  again.window.open({file});
  again.session.settle();
  ASSERT_TRUE(again.session.tree());
  EXPECT_EQ(bytes(again), kept);
  EXPECT_EQ(again.search->steer_bar().chips().chips().size(), 2u);
  EXPECT_TRUE(again.failed.isEmpty()) << again.failed.join('\n').toStdString();
  // A click on a chip's cross takes it back.
  again.search->steer_bar().chips().chips().front().remove();
  EXPECT_EQ(again.search->steer_bar().chips().chips().size(), 1u);
}

TEST_F(SearchJourneyTest, ADamagedTreeIsToldWhereTheTreeWouldBe) {
  const QString file = folder_.filePath(QStringLiteral("damaged.strata"));
  {
    Explorer explorer;
    explorer.session.open_workspace(file.toStdString(), false);
    explorer.window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return explorer.session.snapshot().outcome != nullptr; }, kPatience));
    explorer.session.settle();
    PlannerOptions options;
    options.iterations = 40;
    explorer.session.start_search(QStringLiteral("mcts"), options);
    ASSERT_NO_FATAL_FAILURE(wait_for_end(explorer));
  }
  {
    Workspace workspace(file.toStdString());
    workspace.runs().save_tree(workspace.runs().all().back().id, "STRATREE, but not really");
  }
  Explorer again;
  again.window.open({file});
  again.session.settle();
  EXPECT_FALSE(again.session.tree());
  bool told = false;
  for (const QLabel* label : again.search->findChildren<QLabel*>()) {
    told |= label->text().contains(QStringLiteral("cannot be shown"));
  }
  EXPECT_TRUE(told);
  EXPECT_TRUE(again.session.snapshot().outcome);
  EXPECT_TRUE(again.failed.isEmpty()) << again.failed.join('\n').toStdString();
}

// A view that gets the keys chooses nothing by that.
TEST_F(SearchJourneyTest, LookingAtAViewSelectsNothing) {
  const QString file = folder_.filePath(QStringLiteral("demo.strata"));
  ASSERT_TRUE(QFile::copy(sample("workspace/demo.strata"), file));
  Explorer explorer;
  explorer.window.open({file});
  explorer.session.settle();
  ASSERT_TRUE(explorer.session.tree());
  QApplication::setActiveWindow(&explorer.window);
  visit_views(explorer.window, [&](const NamedView&, const std::string& keys) {
    EXPECT_TRUE(explorer.session.selection().groups().empty()) << keys;
  });
  // A row that is clicked is chosen, also the one that the keys began at.
  QTest::keyClick(&explorer.window, Qt::Key_3, Qt::ControlModifier);
  QTest::keyClick(&explorer.window, Qt::Key_1, Qt::AltModifier);
  QTreeView& tree = explorer.search->tree_view();
  ASSERT_TRUE(tree.hasFocus());
  const QPoint first = tree.visualRect(tree.model()->index(0, 0)).center();
  QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, first);
  EXPECT_FALSE(explorer.session.selection().groups().empty());
}

// Escape in the timeline's search closes it; the window's own Escape comes with the next one.
TEST_F(SearchJourneyTest, EscapeIsTheFieldsFirst) {
  Explorer explorer;
  Session& session = explorer.session;
  explorer.window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
  session.settle();
  QApplication::setActiveWindow(&explorer.window);
  session.selection().select_group(GroupId(0));
  auto* panel = explorer.window.findChild<SearchPanel*>();
  auto* timeline = explorer.window.findChild<TimelineView*>();
  ASSERT_NE(panel, nullptr);
  QTest::keyClick(&timeline->canvas(), Qt::Key_Slash);
  ASSERT_TRUE(panel->isVisible());
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
  EXPECT_FALSE(panel->isVisible());
  EXPECT_TRUE(session.selection().contains(GroupId(0)));
  QTest::keyClick(&explorer.window, Qt::Key_Escape);
  EXPECT_FALSE(session.selection().contains(GroupId(0)));
}

}  // namespace
}  // namespace strato
