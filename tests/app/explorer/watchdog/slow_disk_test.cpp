// A workspace on a slow disk: the window answers, and no edit is lost.
#include "tests/app/explorer/watchdog/slow_disk.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <memory>

#include "app/explorer/main_window.h"
#include "tests/app/explorer/sample.h"
#include "tests/app/explorer/watchdog/watchdog.h"
#include "views/models/strategy_edits.h"
#include "views/models/workspace_model.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

class SlowDiskTest : public ::testing::Test {
 protected:
  SlowDiskTest() : window_(std::make_unique<MainWindow>(session_, false)) {
    QObject::connect(&session_, &Session::failed, [this](const QString& text) { failed_ << text; });
    window_->resize(1280, 800);
    window_->show();
  }

  std::string file(const char* name) {
    return folder_.filePath(QString::fromUtf8(name)).toStdString();
  }
  bool quiet() { return !session_.busy() && session_.snapshot().explanation; }

  // The GUI thread has not waited for the disk even once, whatever else this machine does.
  void judge(Watchdog& watchdog, const char* what) {
    const double longest = watchdog.longest_ms();
    std::printf("%-40s answers within %6.1f ms; %zu waits for the disk, %zu of the window\n", what,
                longest, disk_.waits(), disk_.waits_of_maker());
    EXPECT_EQ(disk_.waits_of_maker(), 0u) << what;
  }

  void open_lenet() {
    session_.open_workspace(file("slow.strata"), false);
    window_->open({sample("clusters/tag-2x1080ti.json"), sample("models/lenet.onnx")});
    ASSERT_TRUE(run_until([&] { return session_.snapshot().outcome && quiet(); }));
  }

  std::size_t stored_edits(const std::string& file, const char* begin) {
    const Workspace workspace(file, true);
    return static_cast<std::size_t>(std::ranges::count_if(
        workspace.strategies().all(),
        [&](const StoredStrategy& strategy) { return strategy.label.starts_with(begin); }));
  }

  void edit(int count, const char* label, int device = 1) {
    for (int i = 0; i < count; ++i) {
      session_.decide({GroupId(static_cast<std::size_t>(i))},
                      decision_on_device(DeviceId(static_cast<std::size_t>(device))),
                      QStringLiteral("%1 %2").arg(QString::fromUtf8(label)).arg(i));
      QCoreApplication::processEvents();
    }
  }

  QTemporaryDir folder_;
  SlowDisk disk_{20ms};
  QStringList failed_;
  Session session_;
  std::unique_ptr<MainWindow> window_;
};

TEST_F(SlowDiskTest, TheWindowNeverWaitsForIt) {
  Watchdog watchdog;
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  judge(watchdog, "opened");
  edit(4, "by hand");
  for (int i = 0; i < 2; ++i) QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(run_until([&] { return quiet(); }));
  judge(watchdog, "edited and undone");

  PlannerOptions options;
  options.iterations = 20;
  session_.start_search(QStringLiteral("mcts"), options);
  ASSERT_TRUE(run_until([&] { return session_.search().state == SearchPhase::Idle; }));
  ASSERT_TRUE(run_until([&] {
    const auto& runs = session_.workspace()->runs();
    return !runs.empty() && runs.front().best;
  }));
  judge(watchdog, "searched");
  auto* model = window_->findChild<WorkspaceModel*>();
  ASSERT_NE(model, nullptr);
  const RunRow run = session_.workspace()->runs().front().id;
  const QModelIndex index = model->find(WorkspaceModel::Kind::Run, run);
  ASSERT_TRUE(index.isValid());
  EXPECT_EQ(model->annotate(index, QStringLiteral("good"), QStringLiteral("the first")), QString());
  session_.rename_strategy(*session_.workspace()->runs().front().best, QStringLiteral("winner"));
  session_.show_run(run);
  ASSERT_TRUE(run_until([&] { return quiet(); }));
  session_.export_plan(file("out.plan.json"));
  ASSERT_TRUE(run_until([&] { return quiet(); }));
  judge(watchdog, "chosen, named, tagged, saved");

  session_.open_workspace(file("other.strata"), true);
  edit(1, "on the way", 0);  // while it is being opened
  ASSERT_TRUE(run_until([&] { return quiet(); }));
  session_.open_workspace(file("slow.strata"), true);
  ASSERT_TRUE(run_until([&] { return quiet() && session_.workspace()->is_read(); }));
  judge(watchdog, "another workspace and back");
  EXPECT_EQ(session_.workspace()->annotations().size(), 1u);

  edit(3, "last word", 0);  // what was not there before
  window_->close();
  ASSERT_TRUE(run_until([&] { return !window_->isVisible(); }));
  judge(watchdog, "edited and closed");
  EXPECT_EQ(stored_edits(file("slow.strata"), "by hand"), 4u);
  EXPECT_EQ(stored_edits(file("slow.strata"), "last word"), 3u);
  EXPECT_EQ(stored_edits(file("slow.strata"), "winner"), 1u);
  EXPECT_EQ(stored_edits(file("slow.strata"), "on the way") +
                stored_edits(file("other.strata"), "on the way"),
            1u);
  EXPECT_TRUE(failed_.isEmpty()) << failed_.join('\n').toStdString();
}

// Closing tells that it takes a while, and asks nothing twice.
TEST_F(SlowDiskTest, ClosingTellsThatItStillWrites) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  edit(3, "last word");
  EXPECT_FALSE(window_->close());
  const auto labels = window_->findChildren<QLabel*>(Qt::FindDirectChildrenOnly);
  EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) {
    return label->isVisible() && label->isEnabled() && label->text().contains("slow.strata");
  }));
  EXPECT_FALSE(window_->close());
  ASSERT_TRUE(run_until([&] { return !window_->isVisible(); }));
  EXPECT_EQ(stored_edits(file("slow.strata"), "last word"), 3u);
}

// What cannot be opened leaves what is open, with all that was done meanwhile.
TEST_F(SlowDiskTest, ARefusedWorkspaceCostsNothing) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  session_.open_workspace(folder_.path().toStdString(), true);  // a folder
  edit(2, "meanwhile");
  ASSERT_TRUE(run_until([&] { return quiet(); }));
  EXPECT_EQ(failed_.size(), 1);
  EXPECT_EQ(session_.workspace()->file(), file("slow.strata"));
  EXPECT_TRUE(session_.workspace()->is_read());
  window_->close();
  ASSERT_TRUE(run_until([&] { return !window_->isVisible(); }));
  EXPECT_EQ(stored_edits(file("slow.strata"), "meanwhile"), 2u);
}

}  // namespace
}  // namespace strato
