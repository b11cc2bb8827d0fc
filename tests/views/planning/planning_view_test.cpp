#include "views/planning/planning_view.h"

#include <QAbstractItemModelTester>
#include <QTest>
#include <cstdio>
#include <ctime>
#include <set>

#include "tests/views/models/fixture.h"
#include "tests/views/models/sample_steps.h"
#include "views/models/planning_replay.h"
#include "views/planning/planning_text.h"
#include "views/planning/rows_table.h"
#include "views/planning/sequence_strip.h"
#include "views/planning/slot_canvas.h"
#include "views/style/transport_bar.h"

namespace strato {
namespace {

class PlanningViewTest : public SessionTest {
 protected:
  void search(const QString& planner) {
    session_.start_search(planner, {});
    ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
    session_.settle();
    ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  }
};

TEST_F(PlanningViewTest, SaysWhatToDoWithoutSteps) {
  PlanningView view(session_);
  view.resize(800, 400);
  EXPECT_EQ(view.replay(), nullptr);
  EXPECT_TRUE(view.empty_text().contains("Open a model"));
  open_lenet();
  EXPECT_TRUE(view.empty_text().contains("celeritas"));
  EXPECT_FALSE(view.grab().isNull());
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(view.replay(), nullptr);
}

TEST_F(PlanningViewTest, EveryWhiteBoxPlannerIsReplayedToItsLastStep) {
  open_lenet();
  PlanningView view(session_);
  view.resize(900, 420);
  for (const char* planner :
       {"celeritas", "order-place", "heft", "fastt", "m-etf", "m-sct", "m-topo"}) {
    search(QString::fromUtf8(planner));
    ASSERT_TRUE(session_.planning_steps()) << planner;
    ASSERT_NE(view.replay(), nullptr) << planner << view.empty_text().toStdString();
    const std::size_t size = view.replay()->size();
    EXPECT_EQ(view.transport().position(), size);
    for (std::size_t p = 0; p <= size; p += std::max<std::size_t>(1, size / 60)) {
      view.seek(p);
      EXPECT_FALSE(view.story().isEmpty()) << planner << p;
    }
    EXPECT_FALSE(view.grab().isNull());
  }
}

TEST_F(PlanningViewTest, StepsGoWithTheirSearch) {
  open_lenet();
  search("heft");
  EXPECT_TRUE(session_.planning_steps());
  search("dp-allreduce");
  EXPECT_FALSE(session_.planning_steps());
  search("heft");
  open_lenet();  // another problem
  EXPECT_FALSE(session_.planning_steps());
}

TEST_F(PlanningViewTest, AStepSelectsItsOpGroups) {
  open_lenet();
  search("celeritas");
  PlanningView view(session_);
  const PlanningReplay& replay = *view.replay();
  for (const std::size_t step : {std::size_t{0}, replay.steps().steps.size() - 1}) {
    view.seek(replay.position_of_step(step));
    std::set<GroupId> expected;
    for (const OpId op : replay.ops(replay.position_of_step(step)))
      expected.insert(problem().grouping->group_of(op));
    EXPECT_TRUE(wait_until([&] {
      return session_.selection().groups() ==
             std::vector<GroupId>(expected.begin(), expected.end());
    }));
  }
}

class SampleView : public PlanningViewTest {
 protected:
  SampleView() {
    open_lenet();
    steps_ = sample_steps(40, 2);
    add_fusion(*steps_, 4);
    add_trials(*steps_, 3);
    view_ = std::make_unique<PlanningView>(session_);
    view_->resize(900, 420);
    view_->show();
    view_->show_steps(steps_, session_.snapshot().problem);
  }
  const PlanningReplay& replay() { return *view_->replay(); }

  std::shared_ptr<PlanningSteps> steps_;
  std::unique_ptr<PlanningView> view_;
};

TEST_F(SampleView, KeysAndPhases) {
  ASSERT_EQ(replay().size(), 40u + 1 + 40 + 3);
  QTest::keyClick(view_.get(), Qt::Key_Home);
  EXPECT_EQ(view_->transport().position(), 0u);
  EXPECT_FALSE(view_->canvas().isVisible());
  for (int i = 0; i < 5; ++i) QTest::keyClick(view_.get(), Qt::Key_Right);
  EXPECT_TRUE(view_->story().contains("Op 5 of 40"));
  EXPECT_EQ(view_->compared().model().rowCount(), 2);  // {0, 4, 5}
  view_->seek(41);
  EXPECT_TRUE(view_->story().contains("rank"));
  EXPECT_EQ(view_->compared().model().rowCount(), 40);
  QTest::keyClick(view_.get(), Qt::Key_Right);
  EXPECT_TRUE(view_->canvas().isVisible());
  EXPECT_EQ(view_->compared().model().rowCount(), 2);  // devices
  EXPECT_EQ(view_->ready().model().rows().nodes.front(), 0);
  EXPECT_EQ(view_->ready().model().rows().marked, 0);
  QTest::keyClick(view_.get(), Qt::Key_End);
  EXPECT_EQ(view_->compared().model().rowCount(), 3);  // trials
  QTest::keyClick(view_.get(), Qt::Key_Space);
  EXPECT_TRUE(view_->transport().playing());
  EXPECT_EQ(view_->transport().position(), 0u);
  QTest::keyClick(view_.get(), Qt::Key_Space);
  EXPECT_FALSE(view_->transport().playing());
}

TEST_F(SampleView, TablesObeyTheModelRules) {
  QAbstractItemModelTester compared(&view_->compared().model(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
  QAbstractItemModelTester ready(&view_->ready().model(),
                                 QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (std::size_t p = 0; p <= replay().size(); ++p) view_->seek(p);
  EXPECT_EQ(view_->transport().position(), replay().size());
}

TEST_F(SampleView, AClickOnANodeGoesToItsStep) {
  SlotCanvas& canvas = view_->canvas();
  for (const std::size_t step : {35u, 20u, 3u, 0u}) {
    const auto& placed = steps_->steps[step];
    canvas.fit_all();
    const QPointF middle = canvas.box_of(placed.device, placed.start, placed.finish).center();
    ASSERT_EQ(canvas.step_at(middle), step);
    QTest::mouseClick(canvas.viewport(), Qt::LeftButton, {}, middle.toPoint());
    EXPECT_EQ(view_->transport().position(), replay().position_of_step(step));
  }
  const auto& later = steps_->steps[39];  // is not placed yet
  canvas.fit_all();
  EXPECT_NE(canvas.step_at(canvas.box_of(later.device, later.start, later.finish).center()), 39u);
}

TEST_F(SampleView, AFollowedNodeIsInSight) {
  const auto steps = sample_steps(5'000, 2);
  for (auto& ops : steps->nodes) ops = {OpId(0)};
  view_->show_steps(steps, session_.snapshot().problem);
  SlotCanvas& canvas = view_->canvas();
  for (const std::size_t step : {4'000u, 0u, 4'999u, 1'234u, 1'235u}) {
    view_->seek(replay().position_of_step(step));
    const auto& placed = steps->steps[step];
    const QRectF box = canvas.box_of(placed.device, placed.start, placed.finish);
    EXPECT_GE(box.left(), canvas.mapping().left) << step;
    EXPECT_LE(box.right(), canvas.viewport()->width()) << step;
    EXPECT_GE(box.width(), 3) << step;
  }
}

TEST_F(SampleView, PlacesOfTheStrip) {
  SequenceStrip& strip = view_->strip();
  strip.resize(600, 80);
  for (const std::size_t position : {replay().size(), std::size_t{10}}) {
    strip.set_position(position);
    for (std::size_t place = 0; place < 40; ++place)
      EXPECT_EQ(strip.place_at((strip.x_of(place) + strip.x_of(place + 1)) / 2), place);
    EXPECT_FALSE(strip.place_at(-5));
    EXPECT_FALSE(strip.place_at(strip.width() - 1));
  }
}

TEST_F(SampleView, StepsAboutAnotherModelAreRefused) {
  steps_ = sample_steps(5, 2);
  steps_->nodes[1] = {OpId(1'000'000)};
  view_->show_steps(steps_, session_.snapshot().problem);
  EXPECT_EQ(view_->replay(), nullptr);
  EXPECT_TRUE(view_->empty_text().contains("ops that the model does not have"));
}

// Not a test of time, which depends on the machine: prints what a person would feel.
TEST_F(SampleView, AHundredThousandStepsAreSmooth) {
  const auto steps = sample_steps(100'000, 4);
  for (auto& ops : steps->nodes) ops = {OpId(0)};
  const auto measure = [&](const char* what, int times, auto&& work) {
    const std::clock_t begin = std::clock();  // of the processor: others may have it, too
    for (int i = 0; i < times; ++i) work(i);
    std::printf("[ %7.2f ms ] %s\n",
                1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / times, what);
  };
  measure("show", 1, [&](int) { view_->show_steps(steps, session_.snapshot().problem); });
  ASSERT_NE(view_->replay(), nullptr);
  measure("paint all", 5, [&](int) { view_->grab(); });
  measure("jump and paint", 10, [&](int i) {
    view_->seek(static_cast<std::size_t>(i + 1) * 9'000);
    view_->grab();
  });
}

}  // namespace
}  // namespace strato
