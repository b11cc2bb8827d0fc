// A person asks in the real window what another batch, network and number of machines would do, has
// it planned anew, goes on with the changed problem, and comes back from it.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGraphicsTextItem>
#include <QGraphicsView>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTreeView>
#include <QUndoStack>
#include <algorithm>
#include <cmath>

#include "app/explorer/header_bar.h"
#include "app/explorer/main_window.h"
#include "tests/app/explorer/by_hand.h"
#include "tests/app/explorer/sample.h"
#include "views/style/style.h"
#include "views/what_if/factor_row.h"
#include "views/what_if/figures_table.h"
#include "views/what_if/what_if_chart.h"
#include "views/what_if/what_if_form.h"
#include "views/what_if/what_if_view.h"
#include "views/workspace/workspace_view.h"

namespace strato {
namespace {

class WhatIfJourney : public ::testing::Test {
 protected:
  WhatIfJourney() : window(session, false) {
    QObject::connect(&session, &Session::failed, [this](const QString& text) { failed << text; });
    window.resize(1280, 800);
    window.show();
    view = window.findChild<WhatIfView*>();
  }
  void SetUp() override {
    ASSERT_TRUE(view);
    session.open_workspace(folder.filePath(QStringLiteral("journey.strata")).toStdString(), false);
    window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
    session.settle();
    QTest::keyClick(&window, Qt::Key_2, Qt::ControlModifier);
    QTest::keyClick(&window, Qt::Key_3, Qt::AltModifier);
    ASSERT_TRUE(view->isVisible()) << "Ctrl+2, Alt+3 shows What If";
    settle();
    ASSERT_TRUE(view->model().found());
  }
  void TearDown() override { EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString(); }

  void settle() {
    view->model().settle();
    session.settle();
    view->model().settle();
  }
  const WhatIfFound& found() { return *view->model().found(); }
  Nanos step_time() { return session.snapshot().outcome->timeline->step_time; }
  std::int64_t batch() { return session.snapshot().problem->graph->batch(); }
  std::string cell(FiguresTable::Row row, FiguresTable::Column column) {
    return view->figures().text_at(row, column).toStdString();
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers) {
    QTest::keyClick(&window, key, modifiers);
    settle();
  }
  void set(WhatIfAxis axis, const QString& value) {
    type_over(view->form().row(axis).field(), value);
    settle();
  }

  void expect_row(FiguresTable::Row row, const StepFigures& figures) {
    EXPECT_EQ(cell(row, FiguresTable::Step), style::time(figures.step_time).toStdString());
    EXPECT_EQ(cell(row, FiguresTable::Rate),
              style::significant(figures.samples_per_second).toStdString());
    EXPECT_EQ(cell(row, FiguresTable::Efficiency),
              style::percent(figures.efficiency).toStdString());
  }
  // The figures that are read are those of today and then.
  void expect_figures() {
    EXPECT_EQ(found().change, view->model().change());
    EXPECT_EQ(found().today.step_time, step_time());
    expect_row(FiguresTable::Today, found().today);
    expect_row(FiguresTable::Then, found().then);
    expect_row(FiguresTable::DataParallel, found().data_parallel);
    const double change = found().then.step_time / found().today.step_time - 1;
    if (std::abs(change) > 5e-4 && change < 2) {
      EXPECT_NE(cell(FiguresTable::Change, FiguresTable::Step)
                    .find(style::signed_percent(change).toStdString()),
                std::string::npos)
          << cell(FiguresTable::Change, FiguresTable::Step);
    }
  }
  // The point of the curve that is there for this value is what the figures say of it.
  void expect_on_curve(double value, Nanos step_time) {
    const ChartedCurve& curve = view->chart().curve();
    ASSERT_EQ(curve.values.size(), curve.points.size());
    const auto at = std::ranges::find(curve.values, value);
    ASSERT_NE(at, curve.values.end()) << value;
    EXPECT_EQ(curve.points[static_cast<std::size_t>(at - curve.values.begin())].strategy.step_time,
              step_time);
    EXPECT_TRUE(std::ranges::is_sorted(curve.values));
  }
  // What is written in the chart.
  std::string chart_text() {
    QCoreApplication::processEvents();  // it lays itself out
    std::string all;
    for (const QGraphicsItem* item : view->chart().findChild<QGraphicsView*>()->scene()->items())
      if (const auto* text = dynamic_cast<const QGraphicsTextItem*>(item))
        all += text->toPlainText().toStdString() + '\n';
    return all;
  }
  void expect_chart_says(const QString& words) {
    EXPECT_NE(chart_text().find(words.toStdString()), std::string::npos)
        << words.toStdString() << " is not in:\n"
        << chart_text();
  }
  template <class Widget>
  Widget* named(const char* name) {
    for (auto* widget : view->findChildren<Widget*>())
      if (widget->accessibleName() == QString::fromUtf8(name)) return widget;
    return nullptr;
  }
  bool header_says(const QString& words) {
    for (const auto* label : window.findChild<HeaderBar*>()->findChildren<QLabel*>())
      if (label->isVisible() && (label->text() + label->toolTip()).contains(words)) return true;
    return false;
  }

  QTemporaryDir folder;
  QStringList failed;
  Session session;
  MainWindow window;
  WhatIfView* view = nullptr;
};

TEST_F(WhatIfJourney, BatchAndNetworkMoveTheStepTime) {
  const Nanos today = step_time();
  EXPECT_EQ(found().then.step_time, today);
  expect_figures();
  // The batch by keys.
  const std::int64_t twice = 2 * batch();
  set(WhatIfAxis::Batch, QString::number(twice));
  EXPECT_EQ(view->model().change().batch, twice);
  EXPECT_GT(found().then.step_time, today);
  EXPECT_GT(found().then.peak, found().today.peak);
  expect_figures();
  const Nanos with_batch = found().then.step_time;
  expect_on_curve(1, with_batch);  // over the network, with this batch
  // The network by the mouse: a click beside the handle.
  FactorRow& network = view->form().row(WhatIfAxis::NetworkBandwidth);
  click_left_in(network.slider());
  settle();
  EXPECT_DOUBLE_EQ(network.value(), 0.5);
  EXPECT_DOUBLE_EQ(view->model().change().cluster.network_bandwidth, 0.5);
  EXPECT_GT(found().then.step_time, with_batch);
  expect_figures();
  expect_on_curve(0.5, found().then.step_time);
  EXPECT_EQ(step_time(), today);  // what is open stays
  // All of it is taken back.
  press_by_letter(view->form().reset_button());
  settle();
  EXPECT_EQ(view->model().change(), ProblemChange());
  EXPECT_EQ(found().then.step_time, today);
  EXPECT_DOUBLE_EQ(network.value(), 1);
  expect_figures();
}

// It becomes dark while figures are shown: they are written for that at once.
TEST_F(WhatIfJourney, TheFiguresFollowTheColours) {
  set(WhatIfAxis::Batch, QString::number(2 * batch()));
  const std::string light = cell(FiguresTable::Change, FiguresTable::Step);
  QPalette dark(QColor(0x3a3d42), QColor(0x25282c));
  dark.setColor(QPalette::WindowText, Qt::white);
  window.setPalette(dark);
  ASSERT_TRUE(style::is_dark(view->figures().palette()));
  settle();
  EXPECT_NE(cell(FiguresTable::Change, FiguresTable::Step), light);
  for (const QLabel* label : view->figures().findChildren<QLabel*>())
    if (label->text() == QStringLiteral("Step time")) {
      EXPECT_EQ(label->palette().color(QPalette::WindowText),
                style::muted_text(view->figures().palette()));
    }
}

TEST_F(WhatIfJourney, TheCurveIsOverWhatKeysChoose) {
  expect_chart_says(QStringLiteral("Bandwidth between machines"));
  set(WhatIfAxis::Batch, QString::number(2 * batch()));
  choose_by_keys(view->axis(), QStringLiteral("over the batch"));
  settle();
  expect_chart_says(QStringLiteral("Batch (samples)"));
  EXPECT_FALSE(view->each_button().isVisible());
  expect_on_curve(static_cast<double>(batch()), step_time());
  expect_on_curve(static_cast<double>(2 * batch()), found().then.step_time);

  QSpinBox* machines = view->form().machines(view->model().kind());
  ASSERT_TRUE(machines);
  const int today = machines->value();
  machines->setFocus();
  QTest::keyClick(machines, Qt::Key_PageUp);
  for (int tries = 0; machines->value() > 2 * today && tries < 20; ++tries)
    QTest::keyClick(machines, Qt::Key_Down);
  settle();
  ASSERT_EQ(machines->value(), 2 * today);
  for (const bool weak : {false, true}) {
    SCOPED_TRACE(weak ? "weak" : "strong");
    choose_by_keys(view->axis(), weak ? QStringLiteral("over machines, weak")
                                      : QStringLiteral("over machines, strong"));
    settle();
    expect_chart_says(QStringLiteral("Machines of %1").arg(view->model().kind()));
    const auto& rows = view->model().scaling().rows;
    const ChartedCurve& curve = view->chart().curve();
    ASSERT_EQ(curve.points.size(), rows.size());
    ASSERT_GE(rows.size(), 4u);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(curve.values[i], static_cast<double>(rows[i].at.machines));
      EXPECT_EQ(curve.points[i].strategy.step_time,
                (weak ? rows[i].weak : rows[i].strong).strategy.step_time);
      EXPECT_TRUE(curve.names[i].endsWith(QString::number(weak ? rows[i].weak_batch : 2 * batch())))
          << curve.names[i].toStdString();
    }
    EXPECT_NE(rows.back().weak.strategy.step_time, rows.back().strong.strategy.step_time);
    if (!weak) expect_on_curve(2 * today, found().then.step_time);
  }
  const std::string step_times = chart_text();
  choose_by_keys(view->quantity(), QStringLiteral("Efficiency (%)"));
  EXPECT_NE(chart_text(), step_times);
  // Each number of machines planned anew.
  choose_by_keys(view->planner(), QStringLiteral("heft"));
  press_by_letter(view->each_button());
  view->scaling_replan().settle();
  const ChartedCurve& curve = view->chart().curve();
  ASSERT_EQ(curve.anew.size(), curve.points.size());
  for (std::size_t i = 0; i < curve.anew.size(); ++i) {
    ASSERT_TRUE(curve.anew[i]) << i << view->scaling_replan().problem().toStdString();
    EXPECT_LE(curve.anew[i]->step_time, curve.points[i].strategy.step_time);
  }
  EXPECT_FALSE(window.grab().isNull());
}

TEST_F(WhatIfJourney, IsPlannedAnewGoneOnWithAndComeBackFrom) {
  session.decide({GroupId(0)}, decision_on_device(DeviceId(0)), QStringLiteral("by hand"));
  settle();
  const Nanos edited = step_time();
  const std::int64_t before = batch();
  set(WhatIfAxis::Batch, QString::number(2 * before));
  set(WhatIfAxis::NetworkBandwidth, QStringLiteral("0.25"));
  const StepFigures carried = found().then;
  EXPECT_NE(carried.step_time, edited);
  EXPECT_EQ(cell(FiguresTable::PlannedAnew, FiguresTable::Step), "–");

  auto* seconds = named<QDoubleSpinBox>("Budget of the planner");
  ASSERT_TRUE(seconds);
  type_over(*seconds, QStringLiteral("1"));
  choose_by_keys(view->planner(), QStringLiteral("mcts"));
  press_by_letter(view->replan_button());
  view->replan().settle();
  ASSERT_TRUE(view->replan().found()) << view->replan().problem().toStdString();
  const StepFigures anew = view->replan().found()->figures;
  EXPECT_LE(anew.step_time, carried.step_time);
  expect_row(FiguresTable::PlannedAnew, anew);
  expect_row(FiguresTable::Then, carried);  // still beside it
  EXPECT_FALSE(window.grab().isNull());

  QTest::mouseClick(&view->form().go_on_button(), Qt::LeftButton);
  settle();
  EXPECT_EQ(batch(), 2 * before);
  EXPECT_EQ(step_time(), std::min(anew.step_time, carried.step_time));
  const QString batch_words = QStringLiteral("batch %1").arg(2 * before);
  EXPECT_TRUE(header_says(batch_words)) << session.snapshot().label.toStdString();
  EXPECT_FALSE(view->form().go_on_button().isEnabled());
  EXPECT_EQ(view->form().row(WhatIfAxis::Batch).value(), static_cast<double>(2 * before));
  expect_figures();

  // Of the changed problem, edits are undone: not the way to it.
  const Nanos taken_over = step_time();
  session.decide({GroupId(1)}, decision_on_device(DeviceId(1)), QStringLiteral("then by hand"));
  settle();
  const Strategy edited_then = session.snapshot().strategy;
  ASSERT_EQ(session.undo_stack().index(), 1);
  press(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(session.undo_stack().index(), 0);
  EXPECT_NE(session.snapshot().strategy, edited_then);
  EXPECT_EQ(step_time(), taken_over);
  press(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_EQ(step_time(), taken_over);
  EXPECT_EQ(batch(), 2 * before);

  // Back by the workspace, that kept both.
  std::int64_t row = -1;
  for (const StoredStrategy& stored : session.workspace()->strategies())
    if (stored.label == "by hand") row = stored.id;
  ASSERT_GE(row, 0);
  auto* workspace = window.findChild<WorkspaceView*>();
  ASSERT_TRUE(workspace->choose(WorkspaceModel::Kind::Strategy, row));
  workspace->tree()->setFocus();
  QTest::keyClick(workspace->tree(), Qt::Key_Return);
  settle();
  EXPECT_EQ(batch(), before);
  EXPECT_EQ(step_time(), edited);
  EXPECT_FALSE(header_says(batch_words));
  EXPECT_EQ(view->form().row(WhatIfAxis::Batch).value(), static_cast<double>(before));
  EXPECT_DOUBLE_EQ(view->form().row(WhatIfAxis::NetworkBandwidth).value(), 1);
  expect_figures();
  EXPECT_EQ(cell(FiguresTable::PlannedAnew, FiguresTable::Step), "–");
}

}  // namespace
}  // namespace strato
