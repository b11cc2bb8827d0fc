// The main job in the real window, by mouse and keys: open, search, change by hand, undo, export.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenuBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QTreeWidget>
#include <functional>

#include "app/explorer/key_table.h"
#include "app/explorer/main_window.h"
#include "app/explorer/notice_strip.h"
#include "core/cost/value/profile.h"
#include "core/strategy/file/plan_file.h"
#include "tests/app/explorer/sample.h"
#include "views/models/placement_model.h"
#include "views/placement/placement_view.h"

namespace strato {
namespace {

// Types `file` into the file dialog as soon as one opens. The dialog runs its own event loop, so
// this is to be called before what opens it.
void answer_file_dialog(QObject& owner, const QString& file) {
  auto* timer = new QTimer(&owner);
  QObject::connect(timer, &QTimer::timeout, timer, [timer, file] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (!dialog) return;
    timer->deleteLater();
    timer->stop();
    auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
    ASSERT_NE(name, nullptr);
    name->setText(file);
    auto* buttons = dialog->findChild<QDialogButtonBox*>();
    ASSERT_NE(buttons, nullptr);
    QTest::mouseClick(buttons->button(QDialogButtonBox::Save), Qt::LeftButton);
    if (dialog->isVisible()) {
      ADD_FAILURE() << "the file dialog did not take the name";
      dialog->reject();
    }
  });
  timer->start(5);
}

class MainJobTest : public ::testing::Test {
 protected:
  MainJobTest() : window_(session_, false) {
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    QObject::connect(&session_, &Session::failed,
                     [this](const QString& text) { failures_ << text; });
    window_.resize(1280, 800);
    window_.show();
  }

  void open() {
    window_.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    ASSERT_TRUE(
        QTest::qWaitFor([this] { return session_.snapshot().outcome != nullptr; }, kPatience));
    session_.settle();
  }

  void search(const char* budget) {
    QComboBox* box = nullptr;
    for (QComboBox* known : window_.findChildren<QComboBox*>()) {
      if (known->isEditable() && known->isVisible()) box = known;
    }
    ASSERT_NE(box, nullptr);
    box->lineEdit()->selectAll();
    QTest::keyClicks(box->lineEdit(), QString::fromUtf8(budget));
    QPushButton* button = nullptr;
    for (QPushButton* known : window_.findChildren<QPushButton*>()) {
      if (known->text() == QStringLiteral("Search")) button = known;
    }
    ASSERT_NE(button, nullptr);
    QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_EQ(session_.search().state, SearchPhase::Running);
    ASSERT_TRUE(QTest::qWaitFor([this] { return session_.search().state == SearchPhase::Idle; },
                                kPatience));
    session_.settle();
  }

  // Presses the first cell of the matrix that is of a device group.
  void click_first_cell() {
    QTest::keyClick(&window_, Qt::Key_P, Qt::ControlModifier);
    auto* matrix = window_.findChild<PlacementView*>();
    ASSERT_NE(matrix, nullptr);
    ASSERT_TRUE(matrix->isVisible());
    auto* table = matrix->findChild<QTableView*>();
    const QRect cell =
        table->visualRect(table->model()->index(0, PlacementModel::FirstDeviceGroup));
    ASSERT_TRUE(table->viewport()->rect().contains(cell.center()));
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, cell.center());
  }

  Nanos step_time() const { return session_.snapshot().outcome->timeline->step_time; }

  QTemporaryDir folder_;
  QStringList failures_;
  Session session_;
  MainWindow window_;
};

TEST_F(MainJobTest, SearchChangeUndoAndExport) {
  ASSERT_NO_FATAL_FAILURE(open());
  const Nanos baseline = step_time();
  ASSERT_NO_FATAL_FAILURE(search("60 iterations"));
  EXPECT_GE(session_.search().progress.iterations, 60);
  const Nanos found = step_time();
  EXPECT_LE(found, baseline);
  const Strategy best = session_.snapshot().strategy;
  const auto& history = session_.search().history;
  ASSERT_FALSE(history.empty());
  EXPECT_EQ(history.back().best_ns, found.value);
  for (std::size_t i = 1; i < history.size(); ++i) {
    EXPECT_LE(history[i].best_ns, history[i - 1].best_ns);
    EXPECT_GE(history[i].evaluations, history[i - 1].evaluations);
  }

  QSignalSpy outcomes(&session_, &Session::outcome_changed);
  ASSERT_NO_FATAL_FAILURE(click_first_cell());
  EXPECT_NE(session_.snapshot().strategy, best);
  ASSERT_TRUE(QTest::qWaitFor([&] { return outcomes.count() > 0; }, kPatience));
  session_.settle();
  EXPECT_EQ(step_time(), simulate_as(*session_.snapshot().problem, session_.snapshot().strategy, {})
                             .timeline->step_time);

  QTest::keyClick(&window_, Qt::Key_Z, Qt::ControlModifier);
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, best);
  EXPECT_EQ(step_time(), found);

  const QString file = folder_.filePath(QStringLiteral("lenet.plan.json"));
  answer_file_dialog(window_, file);
  QTest::keyClick(&window_, Qt::Key_S, Qt::ControlModifier);
  session_.settle();
  const PlanFile plan = read_plan(file.toStdString());
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(MainJobTest, KeysSwitchHowIsSimulatedAndTheSwitchIsInTheKeyTable) {
  ASSERT_NO_FATAL_FAILURE(open());
  QTest::keyClick(&window_, Qt::Key_F6);
  EXPECT_EQ(session_.simulation().order, TaskOrder::Priority);
  QTest::keyClick(&window_, Qt::Key_F7);
  EXPECT_TRUE(session_.simulation().fair_links);
  session_.settle();
  const SimulateOptions& options = session_.snapshot().outcome->timeline->options;
  EXPECT_TRUE(options.fair_links);
  EXPECT_TRUE(options.priorities);
  QTest::keyClick(&window_, Qt::Key_F6);
  QTest::keyClick(&window_, Qt::Key_F7);
  EXPECT_EQ(session_.simulation(), Simulation{});
  const KeyTable keys(window_, nullptr);
  const auto* tree = keys.findChild<QTreeWidget*>();
  ASSERT_NE(tree, nullptr);
  EXPECT_EQ(tree->findItems(QStringLiteral("F7"), Qt::MatchExactly | Qt::MatchRecursive, 1).size(),
            1);
}

TEST_F(MainJobTest, AProfileIsOpenedBesideTheModelAndItsWarningsStay) {
  ASSERT_NO_FATAL_FAILURE(open());
  Profile profile;
  profile.name = "strange";
  profile.ops.push_back({op_signature(*session_.snapshot().problem->graph, OpId(0)),
                         "no-such-gpu",
                         {{8, Nanos(1000), Nanos(0), 1}}});
  const QString file = folder_.filePath(QStringLiteral("strange.json"));
  write_profile(file.toStdString(), profile);
  auto* notice = window_.findChild<NoticeStrip*>();
  ASSERT_NE(notice, nullptr);
  EXPECT_FALSE(notice->isVisible());
  window_.open({file});
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_TRUE(session_.snapshot().costs.profile);
  EXPECT_TRUE(notice->isVisible());
}

}  // namespace
}  // namespace strato
