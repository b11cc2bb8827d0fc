// A person launches under Slurm, closes the window while the job runs, and comes back to it. And
// one lets this machine tell what it has.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <QApplication>
#include <QMessageBox>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include "app/explorer/main_window.h"
#include "core/store/workspace.h"
#include "tests/app/explorer/sample.h"
#include "tests/plugins/launchers/service.h"
#include "views/launch/discover_dialog.h"
#include "views/launch/history_page.h"
#include "views/launch/launch_view.h"

namespace strato {
namespace {

using State = LaunchModel::State;

// Presses a button of the question as soon as it is asked.
void answer(const char* button) {
  QTimer::singleShot(100, qApp, [button] {
    auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (question == nullptr) return answer(button);
    for (QAbstractButton* each : question->buttons())
      if (each->text().contains(QString::fromUtf8(button))) return each->click();
  });
}

class Reattach : public ::testing::Test {
 protected:
  void SetUp() override {
    if (slurm.service.said().starts_with("not installed")) GTEST_SKIP() << slurm.service.said();
    ASSERT_TRUE(slurm.service.ready()) << slurm.service.said();
    ::setenv("SLURM_CONF", (slurm.folder / "slurm.conf").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("SLURM_CONF"); }
  QString workspace() const { return folder.filePath(QStringLiteral("a.strata")); }

  ClusterService slurm{"slurm/cluster", 3};
  QTemporaryDir folder;
};

TEST_F(Reattach, LeavesAJobRunningAndFollowsItAgain) {
  {
    Session session;
    MainWindow window(session, false);
    window.show();
    session.open_workspace(workspace().toStdString(), false);
    window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
    session.settle();
    LaunchView& view = *window.findChild<LaunchView*>();
    view.form().choose("slurm", "replay", 1'000'000);
    view.start_or_cancel();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !view.model().steps().empty() || !view.model().running(); }, kPatience));
    ASSERT_EQ(view.model().state(), State::Running) << view.model().problem().toStdString();
    answer("Stay");
    EXPECT_FALSE(window.close());
    answer("Leave");
    EXPECT_TRUE(window.close());
  }
  Session session;
  MainWindow window(session, false);
  window.show();
  window.open({workspace()});
  ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
  session.settle();
  LaunchView& view = *window.findChild<LaunchView*>();
  StoredLaunchesModel& launches = view.history_page().launches();
  ASSERT_EQ(launches.left_running(), 0);
  view.model().follow_stored(launches.launch(0).id);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !view.model().steps().empty(); }, kPatience))
      << view.model().problem().toStdString();
  EXPECT_EQ(view.model().state(), State::Running);
  EXPECT_FALSE(window.grab().isNull());
  answer("Cancel");
  EXPECT_TRUE(window.close());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !view.model().running(); }, kPatience));
  EXPECT_EQ(view.model().state(), State::Cancelled);
  // The closed window reads its workspace no more.
  const Workspace stored(workspace().toStdString());
  ASSERT_TRUE(QTest::qWaitFor(
      [&] {
        return stored.launches().find(launches.launch(0).id)->state == LaunchState::Cancelled;
      },
      kPatience));
  EXPECT_EQ(launches.rowCount(), 1);
}

TEST(DiscoverJourney, ThisMachineBecomesTheCluster) {
  QTemporaryDir folder;
  Session session;
  QStringList failed;
  QObject::connect(&session, &Session::failed, [&](const QString& text) { failed << text; });
  session.open_workspace(folder.filePath(QStringLiteral("a.strata")).toStdString(), false);
  DiscoverDialog dialog(session);
  dialog.show();
  dialog.model().start(dialog.choice());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !dialog.model().running(); }, kPatience));
  EXPECT_EQ(dialog.model().state(), DiscoverModel::State::Finished)
      << dialog.model().problem().toStdString();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !session.cluster_name().isEmpty(); }, kPatience));
  EXPECT_TRUE(session.cluster_name().startsWith(QStringLiteral("Discovered by local")));
  EXPECT_TRUE(dialog.model().file().startsWith(folder.path()));
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
}

}  // namespace
}  // namespace strato
