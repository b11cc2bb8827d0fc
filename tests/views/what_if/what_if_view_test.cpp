// The problem is changed by hand, through real events, and the strategy follows in the background.
#include "views/what_if/what_if_view.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/model_tester.h"
#include "tests/views/models/tiny_planners.h"
#include "views/models/scaling_model.h"
#include "views/what_if/factor_row.h"
#include "views/what_if/figures_table.h"
#include "views/what_if/what_if_chart.h"
#include "views/what_if/what_if_form.h"

namespace strato {
namespace {

class WhatIfViews : public SessionTest {
 protected:
  bool idle(WhatIfView& view) {
    return wait_until([&] { return !view.model().busy() && view.model().found().has_value(); });
  }
};

TEST_F(WhatIfViews, SlidersFieldsAndMachinesAreSimulatedLive) {
  WhatIfView view(session_);
  view.resize(900, 420);
  view.show();
  open_lenet();
  ASSERT_TRUE(idle(view));
  const WhatIfFound today = *view.model().found();
  EXPECT_EQ(today.then.step_time, step_time());
  EXPECT_EQ(today.data_parallel.step_time, session_.snapshot().baseline->timeline->step_time);
  EXPECT_EQ(view.model().curve().points.size(), view.model().curve().wanted);

  QSlider& network = view.form().row(WhatIfAxis::NetworkBandwidth).slider();
  QTest::keyClick(&network, Qt::Key_PageDown);  // half as much
  EXPECT_DOUBLE_EQ(view.model().change().cluster.network_bandwidth, 0.5);
  ASSERT_TRUE(idle(view));
  EXPECT_GT(view.model().found()->then.step_time, today.then.step_time);
  EXPECT_EQ(view.model().found()->today.step_time, today.then.step_time);
  EXPECT_TRUE(view.figures().text_at(2, 0).contains("%"));

  QDoubleSpinBox& batch = view.form().row(WhatIfAxis::Batch).field();
  batch.selectAll();
  QTest::keyClicks(&batch, "64");
  QTest::keyClick(&batch, Qt::Key_Return);
  EXPECT_EQ(view.model().change().batch, 64);
  ASSERT_TRUE(idle(view));
  EXPECT_GT(view.model().found()->then.samples_per_second,
            view.model().found()->today.samples_per_second);

  ASSERT_EQ(view.model().kinds().size(), 1u);  // two alike
  QSpinBox* machines = view.form().machines(view.model().kind());
  ASSERT_TRUE(machines);
  EXPECT_EQ(machines->value(), 2);
  QTest::keyClick(machines, Qt::Key_Up);
  ASSERT_TRUE(idle(view));
  EXPECT_EQ(view.model().found()->devices, 3u);
  EXPECT_TRUE(failures_.isEmpty());

  QTest::mouseClick(&view.form().reset_button(), Qt::LeftButton);
  EXPECT_EQ(view.model().change(), ProblemChange());
  EXPECT_EQ(machines->value(), 2);
  EXPECT_EQ(batch.value(), 16);
  ASSERT_TRUE(idle(view));
  EXPECT_EQ(view.model().found()->then.step_time, today.then.step_time);
}

TEST_F(WhatIfViews, OnlyTheLatestChangeIsShown) {
  WhatIfView view(session_);
  view.show();
  open_lenet();
  std::vector<double> seen;
  QObject::connect(&view.model(), &ProblemWhatIf::found_changed,
                   [&] { seen.push_back(view.model().found()->change.cluster.network_bandwidth); });
  FactorRow& row = view.form().row(WhatIfAxis::NetworkBandwidth);
  for (int position = -30; position <= 30; ++position) row.slider().setValue(position);
  ASSERT_TRUE(idle(view));
  ASSERT_FALSE(seen.empty());
  EXPECT_DOUBLE_EQ(seen.back(), row.value());
  EXPECT_EQ(view.model().curve().points.size(), view.model().curve().wanted);
}

TEST_F(WhatIfViews, AnEditOfTheStrategyIsFollowed) {
  WhatIfView view(session_);
  view.show();
  open_lenet();
  ASSERT_TRUE(idle(view));
  view.form().row(WhatIfAxis::Speed).field().setValue(4);
  session_.edit(on_one_device(problem(), DeviceId(0)), "alone");
  session_.settle();
  ASSERT_TRUE(idle(view));
  EXPECT_DOUBLE_EQ(view.model().change().speed, 4);  // what was asked for stays
  EXPECT_EQ(view.model().found()->today.step_time, step_time());
  EXPECT_NEAR(view.model().found()->then.step_time / step_time(), 0.25, 0.01);
}

TEST_F(WhatIfViews, AnotherProblemIsAsItIs) {
  WhatIfView view(session_);
  view.show();
  open_lenet();
  view.form().row(WhatIfAxis::Latency).field().setValue(4);
  view.form().machines(view.model().kind())->setValue(5);
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  session_.settle();
  EXPECT_EQ(view.model().change(), ProblemChange());
  ASSERT_TRUE(idle(view));
  EXPECT_EQ(view.model().kinds().size(), 3u);
  EXPECT_TRUE(view.form().machines("v100"));
}

TEST_F(WhatIfViews, WhatCannotBeIsSaid) {
  WhatIfView view(session_);
  view.show();
  open_lenet();
  view.form().machines(view.model().kind())->setValue(0);
  ASSERT_TRUE(idle(view));
  EXPECT_TRUE(view.model().found()->problem.contains("none is left"));
  EXPECT_EQ(view.figures().text_at(FiguresTable::Then, 0), QStringLiteral("–"));
  view.form().machines(view.model().kind())->setValue(1);
  ASSERT_TRUE(idle(view));
  EXPECT_TRUE(view.model().found()->problem.isEmpty());
}

TEST_F(WhatIfViews, UnseenItDoesNothing) {
  WhatIfView view(session_);
  open_lenet();
  EXPECT_FALSE(view.model().busy());
  EXPECT_FALSE(view.model().found());
  view.show();
  ASSERT_TRUE(idle(view));
  view.hide();
  view.model().set_axis(WhatIfAxis::Batch);
  EXPECT_FALSE(view.model().busy());
  view.show();
  ASSERT_TRUE(idle(view));
  EXPECT_EQ(view.model().curve().axis, WhatIfAxis::Batch);
}

TEST_F(WhatIfViews, ClosesWhileItWorks) {
  auto view = std::make_unique<WhatIfView>(session_);
  view->show();
  open_lenet();
  view->form().row(WhatIfAxis::Batch).field().setValue(4096);
  view.reset();
  session_.settle();
}

TEST_F(WhatIfViews, ScalingIsATable) {
  WhatIfView view(session_);
  view.resize(900, 420);
  view.show();
  auto* table = view.findChild<QTableView*>();
  ASSERT_TRUE(table);
  const QAbstractItemModelTester tester(table->model(), kFatal);
  open_lenet();
  ASSERT_TRUE(idle(view));
  view.pages().setCurrentIndex(1);
  QAbstractItemModel& rows = *table->model();
  ASSERT_EQ(rows.rowCount(), 5);  // 1, 2, 4, 8, 16
  EXPECT_EQ(rows.index(1, ScalingModel::Machines).data().toString(), "2");
  EXPECT_TRUE(rows.index(1, 0).data(ScalingModel::TodayRole).toBool());
  EXPECT_EQ(rows.index(1, ScalingModel::WeakBatch).data().toString(), "16");
  EXPECT_EQ(rows.index(4, ScalingModel::WeakBatch).data().toString(), "128");
  EXPECT_EQ(rows.index(1, ScalingModel::StrongStep).data(),
            rows.index(1, ScalingModel::WeakStep).data());
  EXPECT_TRUE(rows.index(0, ScalingModel::StrongStep)
                  .data(Qt::ToolTipRole)
                  .toString()
                  .contains("data parallelism"));
}

TEST_F(WhatIfViews, OtherGpusAndPrecision) {
  WhatIfView view(session_);
  view.show();
  open_lenet();
  ASSERT_TRUE(idle(view));
  const Nanos today = view.model().found()->then.step_time;
  QComboBox* gpus = view.form().gpus(view.model().kind());
  ASSERT_TRUE(gpus);
  EXPECT_EQ(gpus->currentIndex(), 0);
  const int faster = gpus->findData(QStringLiteral("H100-SXM5-80GB"));
  ASSERT_GT(faster, 0);
  gpus->setFocus();
  QTest::keyClicks(gpus, "H100-S");  // a key chooses in a list that has the focus
  EXPECT_EQ(gpus->currentIndex(), faster);
  ASSERT_TRUE(idle(view));
  const Nanos with_h100 = view.model().found()->then.step_time;
  EXPECT_LT(with_h100, today);
  EXPECT_GT(view.model().found()->then.capacity, view.model().found()->today.capacity);

  QComboBox& precision = view.form().precision();
  EXPECT_TRUE(precision.currentText().startsWith("float32"))
      << precision.currentText().toStdString();
  precision.setFocus();
  QTest::keyClick(&precision, Qt::Key_Down);
  EXPECT_EQ(view.model().change().precision, DataType::F16);
  ASSERT_TRUE(idle(view));
  EXPECT_LT(view.model().found()->then.peak, view.model().found()->today.peak);
  QTest::mouseClick(&view.form().reset_button(), Qt::LeftButton);
  EXPECT_EQ(view.model().change(), ProblemChange());
  EXPECT_EQ(gpus->currentIndex(), 0);
  EXPECT_EQ(precision.currentIndex(), 0);
}

// The changed problem is what the window shows then: as fast as was said.
TEST_F(WhatIfViews, GoesOnWithTheChangedProblem) {
  WhatIfView view(session_);
  view.show();
  open_lenet();
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), QStringLiteral("by hand"));
  session_.settle();
  EXPECT_FALSE(view.form().go_on_button().isEnabled());
  EXPECT_FALSE(view.model().go_on());
  ProblemChange change;
  change.batch = 64;
  change.cluster.network_bandwidth = 2;
  change.cluster.machines = {{view.model().kind().toStdString(), 3}};
  change.precision = DataType::F16;
  view.model().set_change(change);
  ASSERT_TRUE(idle(view));
  const StepFigures said = view.model().found()->then;
  view.form().row(WhatIfAxis::Latency).field().setValue(2);  // by hand: the form knows of the rest
  view.form().row(WhatIfAxis::Latency).field().setValue(1);
  ASSERT_TRUE(view.form().go_on_button().isEnabled());
  QTest::mouseClick(&view.form().go_on_button(), Qt::LeftButton);
  view.model().settle();
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(problem().graph->batch(), 64);
  EXPECT_EQ(problem().cluster->device_count(), 3u);
  EXPECT_EQ(step_time(), said.step_time);
  EXPECT_TRUE(session_.snapshot().label.contains("batch 64"))
      << session_.snapshot().label.toStdString();
  EXPECT_TRUE(session_.cluster_name().contains("network x2"));
  EXPECT_EQ(view.model().change(), ProblemChange());  // it is the problem now
  ASSERT_TRUE(idle(view));
  EXPECT_EQ(view.model().found()->today.step_time, said.step_time);
}

// A second click opens nothing, and an edit made meanwhile is in what opens.
TEST_F(WhatIfViews, GoesOnOnceWithTheStrategyAsItIsThen) {
  WhatIfView view(session_);
  view.show();
  open_lenet();
  view.form().row(WhatIfAxis::Speed).field().setValue(2);
  int opened = 0;
  QObject::connect(&session_, &Session::problem_changed, [&] { ++opened; });
  QTest::mouseClick(&view.form().go_on_button(), Qt::LeftButton);
  EXPECT_TRUE(view.model().opening());
  EXPECT_FALSE(view.form().go_on_button().isEnabled());
  EXPECT_FALSE(view.model().go_on());
  const Strategy alone = on_one_device(problem(), DeviceId(1));
  session_.edit(alone, "alone");
  view.model().settle();
  EXPECT_FALSE(view.form().go_on_button().isEnabled());  // it is being loaded
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(session_.snapshot().strategy.groups, alone.groups);
  EXPECT_TRUE(session_.snapshot().label.contains("edited"));
  EXPECT_FALSE(view.model().opening());
}

TEST_F(WhatIfViews, TheChangedClusterIsAFile) {
  WhatIfView view(session_);
  view.show();
  const std::filesystem::path file = folder_.filePath("changed.json").toStdString();
  view.model().save_cluster(file);  // there is none
  open_lenet();
  ProblemChange change;
  change.speed = 2;
  change.cluster.memory = 0.5;
  view.model().set_change(change);
  view.model().save_cluster(file);
  view.model().settle();
  const Cluster saved = read_cluster(file, GpuCatalogue());
  EXPECT_EQ(saved.gpu(DeviceId(0)).memory.value,
            problem().cluster->gpu(DeviceId(0)).memory.value / 2);
  EXPECT_TRUE(saved.gpu(DeviceId(0)).name.ends_with(" x2"));
  EXPECT_TRUE(failures_.isEmpty());
  view.model().save_cluster("/nowhere/changed.json");
  view.model().settle();
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_.front().contains("/nowhere/changed.json"));
}

class WhatIfReplans : public WhatIfViews {
 protected:
  void replan(WhatIfView& view, const char* planner) {
    view.planner().setCurrentText(QString::fromUtf8(planner));
    QTest::mouseClick(&view.replan_button(), Qt::LeftButton);
  }
  Gate gate_;
};

TEST_F(WhatIfReplans, PlansTheChangedProblemAnew) {
  WhatIfView view(session_, nullptr, tiny_planners(), tiny_factory(gate_));
  view.show();
  EXPECT_FALSE(view.replan_button().isEnabled());  // nothing is open
  open_lenet();
  session_.edit(on_one_device(problem(), DeviceId(0)), "alone");
  session_.settle();
  ASSERT_TRUE(idle(view));
  view.form().machines(view.model().kind())->setValue(1);
  view.form().row(WhatIfAxis::Speed).field().setValue(2);
  ASSERT_TRUE(idle(view));
  replan(view, "dp");
  view.replan().settle();
  ASSERT_TRUE(view.replan().found());
  const ReplanFound& found = *view.replan().found();
  EXPECT_EQ(found.change, view.model().change());
  EXPECT_EQ(found.problem->cluster->device_count(), 1u);
  EXPECT_EQ(found.figures.step_time, view.model().found()->then.step_time);  // one device: the same
  EXPECT_NE(view.figures().text_at(FiguresTable::PlannedAnew, 0), QStringLiteral("–"));
  // Of another change it says nothing.
  view.form().row(WhatIfAxis::Speed).field().setValue(3);
  ASSERT_TRUE(idle(view));
  EXPECT_EQ(view.figures().text_at(FiguresTable::PlannedAnew, 0), QStringLiteral("–"));
  view.form().row(WhatIfAxis::Speed).field().setValue(2);
  ASSERT_TRUE(idle(view));
  EXPECT_NE(view.figures().text_at(FiguresTable::PlannedAnew, 0), QStringLiteral("–"));
}

// Whatever the planner finds, it is not worse than the strategy as it is; and it is gone on with.
TEST_F(WhatIfReplans, IsNeverWorseThanTheStrategyAndIsGoneOnWith) {
  WhatIfView view(session_, nullptr, tiny_planners(), tiny_factory(gate_));
  view.show();
  open_lenet();
  session_.edit(on_one_device(problem(), DeviceId(1)), "alone");
  session_.settle();
  view.form().row(WhatIfAxis::NetworkBandwidth).field().setValue(0.01);
  ASSERT_TRUE(idle(view));
  replan(view, "dp");
  view.replan().settle();
  ASSERT_TRUE(view.replan().found());
  EXPECT_LE(view.replan().found()->figures.step_time, view.model().found()->then.step_time);
  view.form().row(WhatIfAxis::NetworkBandwidth).field().setValue(64);
  ASSERT_TRUE(idle(view));
  replan(view, "dp");
  view.replan().settle();
  const StepFigures anew = view.replan().found()->figures;
  const Nanos best = std::min(anew.step_time, view.model().found()->then.step_time);
  QTest::mouseClick(&view.form().go_on_button(), Qt::LeftButton);
  view.model().settle();
  session_.settle();
  EXPECT_EQ(step_time(), best);
  EXPECT_FALSE(view.replan().found());  // it was about another problem
}

TEST_F(WhatIfReplans, StopsRefusesAndIsDropped) {
  WhatIfView view(session_, nullptr, tiny_planners(), tiny_factory(gate_));
  view.show();
  open_lenet();
  ASSERT_TRUE(idle(view));
  replan(view, "refuses");
  view.replan().settle();
  EXPECT_TRUE(view.replan().problem().contains("no use for lenet"));
  EXPECT_TRUE(view.replan_button().isEnabled());
  replan(view, "waits");
  EXPECT_TRUE(view.replan().problem().isEmpty());
  ASSERT_TRUE(wait_until([&] { return view.replan().best_so_far().has_value(); }));
  EXPECT_TRUE(view.replan().running());
  QTest::mouseClick(&view.replan_button(), Qt::LeftButton);  // stops
  EXPECT_FALSE(view.replan_button().isEnabled());
  view.replan().settle();
  EXPECT_TRUE(view.replan().found());  // the best that it had
  replan(view, "waits");
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  session_.settle();
  EXPECT_FALSE(view.replan().running());
  EXPECT_FALSE(view.replan().found());
  view.replan().start({}, QStringLiteral("fails"), 1);
  view.replan().settle();
  EXPECT_TRUE(view.replan().problem().contains("a bug"));
}

// One that another took the worker from has not begun when it is stopped.
TEST_F(WhatIfReplans, IsStoppedBeforeItBegins) {
  WhatIfView view(session_, nullptr, tiny_planners(), tiny_factory(gate_));
  view.show();
  open_lenet();
  ASSERT_TRUE(idle(view));
  for (int i = 0; i < 20; ++i) {
    replan(view, "waits");
    view.replan().start({}, QStringLiteral("dp"), 1);
    view.replan().stop();
    view.replan().settle();
    EXPECT_FALSE(view.replan().stopping());
    EXPECT_TRUE(view.replan_button().isEnabled());
  }
}

TEST_F(WhatIfReplans, AnotherWayOfSimulatingDropsWhatWasFound) {
  WhatIfView view(session_, nullptr, tiny_planners(), tiny_factory(gate_));
  view.show();
  open_lenet();
  ASSERT_TRUE(idle(view));
  replan(view, "dp");
  view.replan().settle();
  ASSERT_TRUE(view.replan().found());
  Simulation other = session_.simulation();
  other.order = TaskOrder::Priority;
  session_.set_simulation(other);
  EXPECT_FALSE(view.replan().found());
  session_.settle();
  ASSERT_TRUE(idle(view));
}

// The curve over the number of machines: carried over, and planned anew one by one.
TEST_F(WhatIfReplans, EachNumberOfMachinesIsPlannedAnew) {
  WhatIfView view(session_, nullptr, tiny_planners(), tiny_factory(gate_));
  view.resize(900, 420);
  view.show();
  open_lenet();
  ASSERT_TRUE(idle(view));
  EXPECT_FALSE(view.each_button().isVisible());
  QTest::keyClick(&view.axis(), Qt::Key_End);
  ASSERT_TRUE(view.each_button().isVisible());
  const auto& rows = view.model().scaling().rows;
  ASSERT_EQ(view.chart().curve().values.size(), rows.size());
  EXPECT_EQ(view.chart().curve().points[1].strategy.step_time, rows[1].weak.strategy.step_time);
  view.planner().setCurrentText(QStringLiteral("dp"));
  QTest::mouseClick(&view.each_button(), Qt::LeftButton);
  ASSERT_TRUE(view.scaling_replan().running());
  EXPECT_EQ(view.scaling_replan().wanted(), rows.size());
  view.scaling_replan().settle();
  EXPECT_FALSE(view.scaling_replan().running());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReplanFound* found = view.scaling_replan().found(rows[i].at.weak);
    ASSERT_TRUE(found) << i;
    EXPECT_LE(found->figures.step_time, rows[i].weak.strategy.step_time);
    ASSERT_TRUE(view.chart().curve().anew[i]);
    EXPECT_EQ(view.chart().curve().anew[i]->step_time, found->figures.step_time);
    const bool other = rows[i].at.strong != rows[i].at.weak;
    EXPECT_FALSE(other && view.scaling_replan().found(rows[i].at.strong));
  }
  EXPECT_TRUE(view.chart().tip_at(2).contains(QStringLiteral("Planned anew")));
  EXPECT_TRUE(view.chart().tip_at(2).contains(QStringLiteral("devices in all")));
  EXPECT_FALSE(view.grab().isNull());
  open_lenet();  // again
  session_.settle();
  EXPECT_FALSE(view.scaling_replan().running());
  EXPECT_TRUE(failures_.isEmpty());
}

TEST_F(WhatIfReplans, PlanningEachIsStoppedDroppedAndClosed) {
  auto view = std::make_unique<WhatIfView>(session_, nullptr, tiny_planners(), tiny_factory(gate_));
  view->show();
  open_lenet();
  ASSERT_TRUE(idle(*view));
  ScalingReplan& replan = view->scaling_replan();
  const WhatIfScaling scaling = view->model().scaling();
  replan.start({}, false, QStringLiteral("dp"), 5);
  EXPECT_FALSE(replan.running());
  replan.start(scaling, false, QStringLiteral("waits"), 5);
  ASSERT_TRUE(replan.running());
  replan.stop();
  EXPECT_TRUE(replan.stopping());
  replan.settle();
  EXPECT_FALSE(replan.running());
  EXPECT_LE(replan.done(), 1u);
  replan.start(scaling, false, QStringLiteral("refuses"), 5);
  replan.settle();
  EXPECT_FALSE(replan.problem().isEmpty());
  EXPECT_EQ(replan.done(), scaling.rows.size());
  replan.start(scaling, true, QStringLiteral("waits"), 5);
  Simulation other = session_.simulation();
  other.order = TaskOrder::Priority;
  session_.set_simulation(other);
  EXPECT_FALSE(replan.running());
  EXPECT_EQ(replan.found(scaling.rows[0].at.weak), nullptr);
  replan.start(scaling, true, QStringLiteral("waits"), 5);
  view.reset();  // while it plans
}

TEST_F(WhatIfReplans, ClosesWhileItPlans) {
  open_lenet();
  for (int i = 0; i < 3; ++i) {
    WhatIfView view(session_, nullptr, tiny_planners(), tiny_factory(gate_));
    view.show();
    replan(view, "waits");
    view.model().set_change({.batch = 32 + i, .cluster = {}});
    view.model().go_on();
  }
  session_.settle();
}

}  // namespace
}  // namespace strato
