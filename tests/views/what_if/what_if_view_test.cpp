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

#include "core/search/baselines.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/model_tester.h"
#include "views/models/scaling_model.h"
#include "views/what_if/factor_row.h"
#include "views/what_if/figures_table.h"
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

  auto* reset = view.form().findChild<QPushButton*>();
  QTest::mouseClick(reset, Qt::LeftButton);
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
  EXPECT_EQ(view.figures().text_at(1, 0), QStringLiteral("–"));
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

}  // namespace
}  // namespace strato
