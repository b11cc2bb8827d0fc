#include "views/timeline/second_timeline.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QMenu>
#include <QScrollBar>
#include <QTest>

#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"
#include "tests/views/timeline/sample_timeline.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

std::shared_ptr<const Timeline> slower(const Timeline& timeline, int percent) {
  Timeline result = timeline;
  for (TaskTimes& times : result.tasks) {
    times.start = times.start * percent / 100;
    times.end = times.end * percent / 100;
  }
  result.step_time = result.step_time * percent / 100;
  return std::make_shared<const Timeline>(std::move(result));
}

TEST(TaskChanges, AreByTheLongestTaskOfAnOp) {
  const auto timeline = test::sample(400, 1);
  const auto& tasks = timeline->program->tasks;
  for (const auto& [percent, change] :
       {std::pair(100, Change::Same), std::pair(110, Change::Faster),
        std::pair(300, Change::MuchFaster), std::pair(90, Change::Slower),
        std::pair(50, Change::MuchSlower)}) {
    const auto changes = compare_tasks(*timeline, *slower(*timeline, percent)).here;
    ASSERT_TRUE(changes);
    for (const Task& task : tasks) EXPECT_EQ(changes->of(task), change) << percent;
  }
}

TEST(TaskChanges, KnowWhatIsOnlyHere) {
  const auto graph = test::chain_graph(40);
  const auto cluster = test::even_cluster(2, 4);
  const auto here = test::random_timeline(graph, cluster, 500, 1),
             there = test::random_timeline(graph, cluster, 30, 2);
  const auto changes = compare_tasks(*here, *there).here;
  ASSERT_TRUE(changes);
  std::size_t only_here = 0;
  for (const Task& task : here->program->tasks) {
    bool known = false;
    for (const Task& other : there->program->tasks)
      known |= TaskChanges::key_of(other) == TaskChanges::key_of(task);
    EXPECT_EQ(changes->of(task) == Change::OnlyHere, !known);
    only_here += !known;
  }
  EXPECT_GT(only_here, 0u);
  EXPECT_FALSE(compare_tasks(*here, *test::sample(30, 2)).here);  // another graph
}

class SecondTimelineTest : public SessionTest {
 protected:
  void SetUp() override {
    open_lenet();
    view_.set_second_plan(second_);
    view_.resize(1000, 500);
    view_.show();
    session_.show_found(data_parallel(problem(), Mode::ReplicatePs), QStringLiteral("PS"));
    session_.settle();
  }
  void settle() {
    second_.settle();
    session_.settle();
    second_.settle();
  }
  TimelineCanvas& first() { return view_.canvas(); }
  SecondTimeline& pair() { return view_.second(); }

  SecondPlan second_{session_};
  TimelineView view_{session_};
};

TEST_F(SecondTimelineTest, IsBelowOnTheSameScale) {
  EXPECT_FALSE(pair().isVisible());
  QTest::keyClick(&first(), Qt::Key_C);
  settle();
  ASSERT_TRUE(pair().isVisible());
  ASSERT_TRUE(pair().canvas().rows());
  EXPECT_EQ(pair().canvas().rows()->timeline, second_.plan()->outcome->timeline);
  EXPECT_EQ(first().colour_mode(), ColourMode::Change);
  EXPECT_TRUE(first().describe(TaskId(0)).contains(QStringLiteral("other plan")));
  const auto whole = static_cast<double>(
      std::max(step_time(), second_.plan()->outcome->timeline->step_time).value);
  EXPECT_GE(first().mapping().span(), whole);  // all of both, as before
  EXPECT_EQ(first().mapping().ns_per_px, pair().canvas().mapping().ns_per_px);
  view_.resize(700, 450);
  EXPECT_GE(first().mapping().span(), whole);
  EXPECT_EQ(first().mapping().ns_per_px, pair().canvas().mapping().ns_per_px);
  QTest::keyClick(&first(), Qt::Key_W);
  QTest::keyClick(&first(), Qt::Key_D);
  EXPECT_EQ(first().mapping().begin, pair().canvas().mapping().begin);
  EXPECT_EQ(first().mapping().ns_per_px, pair().canvas().mapping().ns_per_px);
  QTest::keyClick(&pair().canvas(), Qt::Key_S);
  QTest::keyClick(&pair().canvas(), Qt::Key_A);
  EXPECT_EQ(first().mapping().begin, pair().canvas().mapping().begin);
  EXPECT_EQ(first().mapping().ns_per_px, pair().canvas().mapping().ns_per_px);
  first().filter_rows(QStringLiteral("compute"));
  EXPECT_EQ(pair().canvas().hidden_rows() > 0, first().hidden_rows() > 0);
  view_.grab();
  QTest::keyClick(&first(), Qt::Key_C);
  EXPECT_FALSE(pair().isVisible());
  EXPECT_EQ(first().colour_mode(), ColourMode::Kind);
  EXPECT_FALSE(first().describe(TaskId(0)).contains(QStringLiteral("other plan")));
}

TEST_F(SecondTimelineTest, ASliceBelowSelectsItsGroupOnly) {
  pair().set_mode(SecondTimeline::Mode::Below);
  settle();
  ASSERT_TRUE(pair().canvas().rows());
  pair().canvas().go_to(TaskId(0));
  EXPECT_FALSE(session_.selection().task());
  const OpId op = second_.plan()->outcome->program->tasks[TaskId(0)].op;
  EXPECT_EQ(session_.selection().op(), op);
  EXPECT_TRUE(session_.selection().contains(problem().grouping->group_of(op)));
  for (const char key : {'.', ',', '[', ']', 'f', 'h', 'p'}) QTest::keyClick(&pair().canvas(), key);
  view_.grab();
  QTest::keyClick(&pair().canvas(), Qt::Key_Escape);
  EXPECT_TRUE(session_.selection().groups().empty());
}

TEST_F(SecondTimelineTest, BlinksInTheSamePlace) {
  QTest::keyClick(&first(), Qt::Key_B);
  settle();
  EXPECT_TRUE(pair().canvas().isVisible());
  EXPECT_FALSE(first().isVisible());
  const QImage other = view_.grab().toImage();
  QTest::keyClick(&pair().canvas(), Qt::Key_B);
  EXPECT_FALSE(pair().canvas().isVisible());
  EXPECT_TRUE(first().isVisible());
  EXPECT_NE(view_.grab().toImage(), other);
  QTest::keyClick(&first(), Qt::Key_B);
  EXPECT_TRUE(pair().canvas().isVisible());
  pair().set_mode(SecondTimeline::Mode::Alone);
  EXPECT_TRUE(first().isVisible());
}

TEST_F(SecondTimelineTest, FollowsEditsAndTheMenu) {
  pair().set_mode(SecondTimeline::Mode::Below);
  settle();
  session_.show_found(data_parallel(problem()), QStringLiteral("Data parallel"));
  settle();
  EXPECT_TRUE(first().rows());
  ASSERT_TRUE(pair().canvas().rows());
  EXPECT_FALSE(first().describe(TaskId(0)).isEmpty());
  QMenu menu;
  pair().fill(menu);
  bool chosen = false;
  for (QAction* action : menu.actions()) {
    if (!action->isCheckable() || action->isChecked() || chosen) continue;
    if (action->text().contains(QStringLiteral("(B)"))) continue;
    action->trigger();
    chosen = true;
  }
  settle();
  view_.grab();
  second_.choose({SecondChoice::What::Strategy, 12345, {}});  // there is no such row
  settle();
  view_.grab();
}

TEST(SecondTimeline, WithoutAProblemOrASecondPlan) {
  Session session;
  TimelineView view(session);
  view.resize(800, 400);
  view.show();
  QTest::keyClick(&view.canvas(), Qt::Key_C);
  view.show_timeline(test::sample(50, 1), Nanos(0));
  QTest::keyClick(&view.canvas(), Qt::Key_C);
  QTest::keyClick(&view.canvas(), Qt::Key_B);
  EXPECT_FALSE(view.second().isVisible());
  SecondPlan second(session);
  view.set_second_plan(second);
  QTest::keyClick(&view.canvas(), Qt::Key_C);
  second.settle();
  EXPECT_TRUE(view.second().isVisible());
  EXPECT_FALSE(view.second().canvas().rows());
  view.grab();
}

}  // namespace
}  // namespace strato
