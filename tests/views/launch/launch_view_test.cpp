// A person launches: the form, live progress, the end, and what can be clicked.
#include "views/launch/launch_view.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTableView>
#include <QTableWidget>
#include <QTest>

#include "tests/views/models/fake_launcher.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/launch/measured_page.h"

namespace strato {
namespace {

PluginInfo plugin(PluginKind kind, const char* name) {
  return {kind, name, std::string("Fake: ") + name, {}, {}, Effort::Quick};
}

LaunchOffer offer() {
  return {{plugin(PluginKind::Launcher, "local"), plugin(PluginKind::Launcher, "slurm")},
          {plugin(PluginKind::Engine, "replay"), plugin(PluginKind::Engine, "torch")},
          {plugin(PluginKind::Transport, "gloo"), plugin(PluginKind::Transport, "nccl")}};
}

class LaunchInAView : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(720, 380);
    view_.show();
    view_.form().choose("local", "replay", 3);
  }
  QPushButton& button() {
    for (QPushButton* each :
         view_.findChildren<QPushButton*>(QString(), Qt::FindDirectChildrenOnly))
      return *each;
    throw std::runtime_error("no button");
  }
  QTabWidget& pages() {
    return *view_.findChild<QTabWidget*>(QString(), Qt::FindDirectChildrenOnly);
  }
  QString page() { return pages().tabText(pages().currentIndex()); }
  void open_page(const char* name) {
    for (int i = 0; i < pages().count(); ++i)
      if (pages().tabText(i) == QString::fromUtf8(name)) pages().setCurrentIndex(i);
  }
  bool says(const QString& part) {
    for (const QLabel* label : view_.findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(part)) return true;
    return false;
  }
  void launch() {
    const int before = cluster_.launched();
    QTest::mouseClick(&button(), Qt::LeftButton);
    ASSERT_TRUE(wait_until([&] { return cluster_.launched() > before; }));
  }
  void finish(double factor) {
    cluster_.finish(stretched(*session_.snapshot().outcome->timeline, factor, 3, 2));
    ASSERT_TRUE(wait_until([&] { return !view_.model().running(); }));
  }

  FakeCluster cluster_;
  LaunchView view_{session_, offer(), fake_factory(cluster_)};
};

TEST_F(LaunchInAView, SaysWhatToDo) {
  EXPECT_TRUE(says(QStringLiteral("Open a model and a cluster")));
  EXPECT_FALSE(button().isEnabled());
  open_lenet();
  EXPECT_TRUE(button().isEnabled());
  EXPECT_TRUE(says(QStringLiteral("Launch runs")));
  open_page("Measured");
  EXPECT_TRUE(says(QStringLiteral("once a launch has finished")));
  const LaunchView bare(session_, {}, fake_factory(cluster_));
  bool told = false;
  for (const QLabel* label : bare.findChildren<QLabel*>())
    told |= label->text().contains(QStringLiteral("Nothing to launch with"));
  EXPECT_TRUE(told);
}

TEST_F(LaunchInAView, ShowsWhatWillRunWhere) {
  open_lenet();
  auto* table = view_.findChild<QTableWidget*>();
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rowCount(), 2);
  EXPECT_EQ(table->item(0, 0)->text(), "0");
  EXPECT_TRUE(table->item(1, 1)->text().contains(QLatin1Char(':')));
  EXPECT_FALSE(says(QStringLiteral("Computes on CPUs")));
  view_.form().choose("local", "torch", 3);
  EXPECT_TRUE(says(QStringLiteral("Computes on CPUs")));
}

TEST_F(LaunchInAView, TheLaunchersOwnSettingsAreAskedFor) {
  open_lenet();
  view_.form().choose("slurm", "replay", 7);
  open_page("Settings");
  QLineEdit* partition = nullptr;
  for (QLineEdit* edit : view_.findChildren<QLineEdit*>())
    if (edit->placeholderText() == QStringLiteral("Where the nodes are taken from"))
      partition = edit;
  ASSERT_TRUE(partition);
  partition->setText(QStringLiteral(" gpu "));
  const LaunchChoice choice = view_.form().choice();
  EXPECT_EQ(choice.launcher, "slurm");
  EXPECT_EQ(choice.settings, (std::map<std::string, std::string>{{"partition", "gpu"}}));
  EXPECT_EQ(choice.options.steps, 7);
  EXPECT_FALSE(choice.options.learning_rate);
  EXPECT_FALSE(view_.grab().isNull());
}

TEST_F(LaunchInAView, WatchesFinishesAndSelects) {
  open_lenet();
  launch();
  EXPECT_EQ(button().text(), "&Cancel");
  EXPECT_FALSE(view_.form().isEnabled());
  EXPECT_EQ(page(), "Progress");
  cluster_.step(1, Nanos(20'000'000), 2.5);
  ASSERT_TRUE(wait_until([&] { return says(QStringLiteral("step 1 of 3")); }));
  EXPECT_TRUE(says(QStringLiteral("loss 2.5")));
  EXPECT_FALSE(view_.grab().isNull());
  finish(1.25);
  EXPECT_EQ(page(), "Measured");
  EXPECT_TRUE(says(QStringLiteral("+25")));
  EXPECT_EQ(button().text(), "L&aunch");
  QTableView& ops = view_.measured_page().table(DifferenceModel::Of::Ops);
  ASSERT_GT(ops.model()->rowCount(), 3);
  ops.setFocus();
  QTest::keyClick(&ops, Qt::Key_Down);
  QTest::keyClick(&ops, Qt::Key_Down);
  ASSERT_TRUE(session_.selection().op());
  const int row = ops.selectionModel()->selectedRows()[0].row();
  EXPECT_EQ(problem().graph->op(*session_.selection().op()).name,
            ops.model()->index(row, DifferenceModel::Name).data().toString().toStdString());
  EXPECT_FALSE(view_.grab().isNull());
}

TEST_F(LaunchInAView, AFailureIsReadWithItsLog) {
  open_lenet();
  launch();
  cluster_.log(1, "Traceback of rank one\n");
  cluster_.end(JobState::Failed, "rank 1: killed by signal 9");
  ASSERT_TRUE(wait_until([&] { return !view_.model().running(); }));
  EXPECT_EQ(page(), "Logs");
  EXPECT_TRUE(says(QStringLiteral("rank 1: killed by signal 9")));
  EXPECT_TRUE(view_.findChild<QPlainTextEdit*>()->toPlainText().contains("Traceback of rank one"));
  EXPECT_TRUE(button().isEnabled());
}

TEST_F(LaunchInAView, CancelsByTheButton) {
  open_lenet();
  launch();
  view_.start_or_cancel();
  ASSERT_TRUE(wait_until([&] { return !view_.model().running(); }));
  EXPECT_TRUE(cluster_.cancelled());
  EXPECT_TRUE(says(QStringLiteral("cancelled")));
}

TEST_F(LaunchInAView, APressThatWasToCancelStartsNoOtherJob) {
  open_lenet();
  launch();
  finish(2);
  const int launched = cluster_.launched();
  QStringList told;
  QObject::connect(&session_, &Session::message, [&](const QString& text) { told << text; });
  view_.start_or_cancel();
  EXPECT_FALSE(view_.model().running());
  EXPECT_TRUE(told.join(' ').contains(QStringLiteral("press again")))
      << told.join(' ').toStdString();
  ASSERT_TRUE(wait_until([&] { return !view_.just_ended(); }));
  EXPECT_EQ(cluster_.launched(), launched);
  view_.start_or_cancel();
  EXPECT_TRUE(view_.model().running());
}

// Times that were simulated teach nothing, and it is said.
TEST_F(LaunchInAView, AReplayIsNotToLearnFrom) {
  open_lenet();
  launch();
  finish(0.5);
  EXPECT_TRUE(says(QStringLiteral("nothing to learn")));
  for (QPushButton* each : view_.measured_page().findChildren<QPushButton*>())
    EXPECT_FALSE(each->isVisible()) << each->text().toStdString();
  view_.model().learn();
  EXPECT_FALSE(view_.model().learning());
}

TEST_F(LaunchInAView, LearnsAndUses) {
  open_workspace();
  open_lenet();
  view_.form().choose("local", "torch", 3);
  launch();
  finish(2);
  QPushButton *learn = nullptr, *use = nullptr;
  for (QPushButton* each : view_.measured_page().findChildren<QPushButton*>()) {
    if (each->text().contains(QStringLiteral("from This Run"))) learn = each;
    if (each->text().contains(QStringLiteral("These Costs"))) use = each;
  }
  ASSERT_TRUE(learn && use);
  EXPECT_FALSE(use->isVisible());
  learn->click();
  ASSERT_TRUE(wait_until([&] { return says(QStringLiteral("kinds of op learned")); }));
  EXPECT_TRUE(use->isVisible());
  use->click();
  session_.settle();
  EXPECT_TRUE(says(QStringLiteral("in use")));
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_NE(session_.snapshot().costs.profile, nullptr);
}

TEST_F(LaunchInAView, AnotherStrategySaysThatItWasNotMeasured) {
  open_lenet();
  launch();
  finish(1);
  session_.show_found(all_on(problem(), 0), QStringLiteral("one"));
  session_.settle();
  EXPECT_TRUE(says(QStringLiteral("is not the one that was launched")));
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_TRUE(says(QStringLiteral("Step time")));
}

}  // namespace
}  // namespace strato
