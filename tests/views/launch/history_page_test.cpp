// The list of launches, and the dialog that discovers a cluster.
#include "views/launch/history_page.h"

#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QUndoStack>

#include "tests/views/models/fake_launcher.h"
#include "tests/views/models/fixture.h"
#include "views/launch/discover_dialog.h"

namespace strato {
namespace {

class HistoryInAView : public SessionTest {
 protected:
  void SetUp() override {
    page_.resize(760, 300);
    page_.show();
  }
  bool says(const QString& part) {
    for (const QLabel* label : page_.findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(part)) return true;
    return false;
  }
  QPushButton& button(const QString& part) {
    for (QPushButton* each : page_.findChildren<QPushButton*>())
      if (each->text().contains(part)) return *each;
    throw std::runtime_error("no button");
  }
  void launch(const char* job) {
    const int before = cluster_.launched();
    model_.start(cluster_job(cluster_, job, folder_.path()));
    ASSERT_TRUE(wait_until([&] { return cluster_.launched() > before; }));
  }
  int rows() { return page_.launches().rowCount(); }

  FakeCluster cluster_;
  LaunchModel model_{session_, fake_factory(cluster_)};
  HistoryPage page_{session_, model_};
};

TEST_F(HistoryInAView, SaysWhatToDo) {
  EXPECT_TRUE(says(QStringLiteral("Open a workspace")));
  open_workspace();
  EXPECT_TRUE(says(QStringLiteral("Launch starts the first")));
}

TEST_F(HistoryInAView, AClickShowsOneAgainAndDeleteTakesItAway) {
  open_workspace();
  open_lenet();
  launch("fake:1");
  cluster_.finish(stretched(*session_.snapshot().outcome->timeline, 1.25, 3, 2));
  ASSERT_TRUE(wait_until([&] { return rows() == 1; }));
  session_.show_measured(nullptr);
  const QRect first = page_.table().visualRect(page_.table().model()->index(0, 1));
  QTest::mouseClick(page_.table().viewport(), Qt::LeftButton, {}, first.center());
  ASSERT_TRUE(wait_until([&] { return session_.measured() != nullptr; }));
  EXPECT_FALSE(page_.grab().isNull());
  ASSERT_TRUE(wait_until([&] { return button(QStringLiteral("Delete")).isEnabled(); }));
  page_.table().setFocus();
  QTest::keyClick(&page_.table(), Qt::Key_Delete);
  ASSERT_TRUE(wait_until([&] { return rows() == 0; }));
  EXPECT_TRUE(says(QStringLiteral("Launch starts the first")));
  session_.undo_stack().undo();
  ASSERT_TRUE(wait_until([&] { return rows() == 1; }));
}

TEST_F(HistoryInAView, OneThatWasLeftIsFollowedByTheButton) {
  open_workspace();
  open_lenet();
  launch("slurm:3");
  ASSERT_TRUE(wait_until([&] { return rows() == 1; }));
  EXPECT_FALSE(button(QStringLiteral("Follow")).isVisible());  // it is followed
  model_.leave();
  ASSERT_TRUE(wait_until([&] { return !model_.running(); }));
  page_.refresh();
  EXPECT_TRUE(says(QStringLiteral("slurm:3")));
  QTest::mouseClick(&button(QStringLiteral("Follow")), Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return cluster_.attached() == 1; }));
  model_.cancel();
  ASSERT_TRUE(wait_until([&] { return !model_.running(); }));
  ASSERT_TRUE(
      wait_until([&] { return page_.launches().launch(0).state == LaunchState::Cancelled; }));
}

class DiscoverInAView : public SessionTest {
 protected:
  bool says(const QString& part) {
    for (const QLabel* label : dialog_.findChildren<QLabel*>())
      if (label->text().contains(part)) return true;
    return false;
  }
  QPushButton& start() {
    for (QPushButton* each : dialog_.findChildren<QPushButton*>())
      if (each->text().contains(QStringLiteral("Discover")) ||
          each->text().contains(QStringLiteral("Cancel")))
        return *each;
    throw std::runtime_error("no button");
  }

  FakeCluster cluster_;
  DiscoverDialog dialog_{session_,
                         {{PluginKind::Launcher, "local", "Fake", {}, {}, Effort::Quick},
                          {PluginKind::Launcher, "slurm", "Fake", {}, {}, Effort::Quick}},
                         fake_factory(cluster_)};
};

TEST_F(DiscoverInAView, RunsInTheBackgroundAndIsCancelled) {
  dialog_.show();
  EXPECT_TRUE(says(QStringLiteral("One process on each machine")));
  EXPECT_EQ(dialog_.choice().launcher, "local");
  QTest::mouseClick(&start(), Qt::LeftButton);
  EXPECT_TRUE(dialog_.model().running());
  ASSERT_TRUE(wait_until([&] { return says(QStringLiteral("asking one machine")); }));
  EXPECT_FALSE(dialog_.grab().isNull());
  ASSERT_TRUE(wait_until([&] { return cluster_.launched() == 1; }));
  QTest::mouseClick(&start(), Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return !dialog_.model().running(); }));
  EXPECT_TRUE(cluster_.cancelled());
  EXPECT_TRUE(says(QStringLiteral("Cancelled")));
}

TEST_F(DiscoverInAView, AFailureSaysWhy) {
  cluster_.refuse("no such partition");
  dialog_.model().start(dialog_.choice());
  ASSERT_TRUE(wait_until([&] { return !dialog_.model().running(); }));
  EXPECT_TRUE(says(QStringLiteral("no such partition")));
  EXPECT_EQ(session_.cluster_name(), QString());
}

TEST_F(DiscoverInAView, TheLogsOfAFailureStay) {
  dialog_.model().start(dialog_.choice());
  ASSERT_TRUE(wait_until([&] { return cluster_.launched() == 1; }));
  cluster_.log(0, "the driver does not answer\n");
  cluster_.end(JobState::Failed, "rank 0: ended by signal 9");
  ASSERT_TRUE(wait_until([&] { return !dialog_.model().running(); }));
  const std::filesystem::path job = cluster_.folder();
  EXPECT_TRUE(says(QStringLiteral("rank 0: ended by signal 9; logs are in ") +
                   QString::fromStdString(job.string())));
  EXPECT_TRUE(std::filesystem::exists(job / "log-0.txt"));
  std::filesystem::remove_all(job);
}

TEST_F(DiscoverInAView, ClosingTheWindowCancels) {
  auto other = std::make_unique<DiscoverModel>(session_, fake_factory(cluster_));
  other->start({});
  ASSERT_TRUE(wait_until([&] { return cluster_.launched() == 1; }));
  other.reset();
  EXPECT_TRUE(cluster_.cancelled());
}

}  // namespace
}  // namespace strato
