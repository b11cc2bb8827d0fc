// Several runs in one chart: what is read, what is drawn, and runs that are under way.
#include "views/charts/convergence.h"

#include <gtest/gtest.h>

#include <QChart>
#include <QComboBox>
#include <QLineSeries>
#include <QTest>
#include <QTreeWidget>
#include <cmath>
#include <set>

#include "tests/views/models/fixture.h"
#include "views/charts/charts_view.h"
#include "views/charts/convergence_view.h"

namespace strato {
namespace {

ConvergenceRun made_up(std::vector<HistoryPoint> history, std::int64_t baseline = 0) {
  ConvergenceRun run;
  run.history = std::move(history);
  run.baseline = Nanos(baseline);
  return run;
}

TEST(Convergence, IsAStaircaseToWhereTheRunIs) {
  ConvergenceRun run = made_up({{1, 0.5, 4'000'000}, {10, 1, 2'000'000}}, 8'000'000);
  run.evaluations = 20;
  run.seconds = 3;
  const auto over = chart_of({run}, ConvergenceOver::Evaluations, ConvergenceOf::StepTime);
  EXPECT_EQ(over.lines[0].points, (std::vector<QPointF>{{1, 4}, {10, 4}, {10, 2}, {20, 2}}));
  EXPECT_EQ(over.x_range.high, 20);
  const auto time = chart_of({run}, ConvergenceOver::Seconds, ConvergenceOf::Speedup);
  EXPECT_EQ(time.lines[0].points, (std::vector<QPointF>{{0.5, 2}, {1, 2}, {1, 4}, {3, 4}}));
}

TEST(Convergence, HoldsOutWithAnyHistory) {
  const std::vector<ConvergenceRun> runs = {
      made_up({}),                                      // nothing yet
      made_up({{0, 0, 0}, {5, 1, -3}}),                 // nothing that fits
      made_up({{5, 2, 7'000'000}, {3, 1, 6'000'000}}),  // a clock that was set back
      made_up({{1, NAN, 5'000'000}, {2, INFINITY, 4'000'000}}),
      made_up({{1, 1, std::numeric_limits<std::int64_t>::max()}}, 1)};
  for (const auto over : {ConvergenceOver::Evaluations, ConvergenceOver::Seconds}) {
    for (const auto of : {ConvergenceOf::StepTime, ConvergenceOf::Speedup}) {
      const ConvergenceChart chart = chart_of(runs, over, of);
      ASSERT_EQ(chart.lines.size(), runs.size());
      EXPECT_GT(chart.x_range.high, chart.x_range.low);
      EXPECT_GT(chart.y_range.high, chart.y_range.low);
      EXPECT_LT((chart.y_range.high - chart.y_range.low) / chart.y_range.tick, 50);
      for (const ConvergenceLine& line : chart.lines) {
        for (std::size_t i = 0; i < line.points.size(); ++i) {
          EXPECT_TRUE(std::isfinite(line.points[i].x()) && std::isfinite(line.points[i].y()));
          EXPECT_GE(line.points[i].x(), line.points[i > 0 ? i - 1 : 0].x());
        }
      }
    }
  }
  EXPECT_TRUE(chart_of({}, ConvergenceOver::Seconds, ConvergenceOf::StepTime).lines.empty());
}

// One far above the best does not press the others flat; alone it is seen.
TEST(Convergence, LeavesOutWhatIsFarWorse) {
  const ConvergenceRun good = made_up({{1, 1, 100'000'000}, {50, 2, 95'000'000}}, 130'000'000),
                       better = made_up({{1, 1, 100'000'000}, {50, 2, 94'000'000}}, 130'000'000),
                       bad = made_up({{1, 1, 1'000'000'000}}, 130'000'000);
  for (const auto of : {ConvergenceOf::StepTime, ConvergenceOf::Speedup}) {
    const auto chart = chart_of({good, bad, better}, ConvergenceOver::Evaluations, of);
    EXPECT_FALSE(chart.lines[0].outside);
    EXPECT_TRUE(chart.lines[1].outside);
    EXPECT_FALSE(chart.lines[2].outside);
    EXPECT_LT(chart.y_range.high, chart.y_range.low * 2);
    EXPECT_FALSE(chart_of({bad}, ConvergenceOver::Evaluations, of).lines[0].outside);
  }
}

TEST(Convergence, IsDecimated) {
  std::vector<HistoryPoint> history;
  for (int i = 0; i < 100'000; ++i) history.push_back({i, i * 0.01, 1'000'000'000 - i * 1000});
  const auto chart =
      chart_of({made_up(history)}, ConvergenceOver::Seconds, ConvergenceOf::StepTime);
  EXPECT_LE(chart.lines[0].points.size(), kMostPoints);
  EXPECT_NEAR(chart.lines[0].points.back().y(), 900.001, 1e-6);
}

class ConvergenceViewTest : public SessionTest {
 protected:
  void search(const char* planner) {
    session_.start_search(planner, {});
    ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
    session_.settle();
  }
  ConvergenceView& view() { return charts_.convergence(); }
  bool shows(std::size_t runs) {
    return wait_until([&] { return view().runs().size() == runs; }, 10);
  }
  void show_window() {
    charts_.resize(800, 500);
    charts_.show();
  }

  ChartsView charts_{session_};
};

TEST_F(ConvergenceViewTest, ShowsTheLatestOfWhatIsOpenOrThoseThatAreChosen) {
  charts_.pages().setCurrentIndex(1);
  show_window();
  EXPECT_TRUE(view().runs().empty());  // neither workspace nor model
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  for (const char* planner : {"dp-allreduce", "dp-ps", "single-device"})
    ASSERT_NO_FATAL_FAILURE(search(planner));
  ASSERT_TRUE(shows(3));
  EXPECT_EQ(view().chart().series().size(), 3);
  EXPECT_EQ(view().list().topLevelItem(0)->text(0), "dp-allreduce #1");
  charts_.show_convergence({3, 1, 3, 99});  // twice, and one that is not there
  ASSERT_TRUE(shows(2));
  EXPECT_EQ(view().runs()[0].name, "single-device #3");
  EXPECT_EQ(view().chart().series().size(), 2);
  view().list().topLevelItem(0)->setCheckState(0, Qt::Unchecked);
  EXPECT_FALSE(view().chart().series()[0]->isVisible());
  EXPECT_TRUE(view().chart().series()[1]->isVisible());
  view().list().topLevelItem(0)->setSelected(true);
  QTest::keyClick(&view().list(), Qt::Key_Delete);  // from the chart
  ASSERT_TRUE(shows(1));
  QTest::keyClick(&view().list(), Qt::Key_Delete);  // the last one stays
  EXPECT_EQ(session_.workspace()->runs().size(), 3u);
  session_.remove_run(1);
  session_.settle();
  ASSERT_TRUE(shows(0));
  charts_.show_convergence({});
  ASSERT_TRUE(shows(2));
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// A run of another program grows in the chart.
TEST_F(ConvergenceViewTest, FollowsARunThatIsUnderWay) {
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  ASSERT_NO_FATAL_FAILURE(search("dp-allreduce"));
  Workspace other(session_.workspace()->file());
  StoredRun run = other.runs().all().front();
  run.id = 0;
  run.state = RunState::Running;
  run.planner = "elsewhere";
  run.id = other.add(run);
  charts_.show_convergence({1, run.id});
  show_window();
  ASSERT_TRUE(shows(2));
  EXPECT_EQ(view().list().topLevelItem(1)->text(2), "running");
  for (int i = 1; i <= 2; ++i) {
    other.runs().add_history(run.id, {i * 10, i * 1.0, 50'000'000 - i * 1'000'000});
    run.evaluations = i * 10;
    other.update(run);
    ASSERT_TRUE(wait_until(
        [&] { return view().runs()[1].history.size() >= static_cast<std::size_t>(i); }, 10));
  }
  auto* line = qobject_cast<QLineSeries*>(view().chart().series()[1]);
  EXPECT_EQ(line->points().last(), QPointF(20, 48));
  run.state = RunState::Finished;
  other.update(run);
  ASSERT_TRUE(wait_until([&] { return view().list().topLevelItem(1)->text(2) == "finished"; }, 10));
}

// Each line differs from all others in colour or dashes, light and dark.
TEST_F(ConvergenceViewTest, TellsMostLinesApart) {
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  ASSERT_NO_FATAL_FAILURE(search("dp-allreduce"));
  Workspace other(session_.workspace()->file());
  StoredRun run = other.runs().all().front();
  std::vector<RunRow> rows;
  for (std::size_t i = 0; i < kMostLines + 5; ++i) {
    run.id = 0;
    rows.push_back(other.add(run));
  }
  charts_.show_convergence(rows);
  show_window();
  ASSERT_TRUE(shows(kMostLines));
  std::set<std::pair<QRgb, int>> looks;
  for (QAbstractSeries* series : view().chart().series()) {
    const QPen pen = qobject_cast<QLineSeries*>(series)->pen();
    looks.emplace(pen.color().rgb(), static_cast<int>(pen.style()));
  }
  EXPECT_EQ(looks.size(), kMostLines);
}

// Runs of different problems: what they have in common is the speed-up.
TEST_F(ConvergenceViewTest, OfDifferentProblemsShowsSpeedUps) {
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  ASSERT_NO_FATAL_FAILURE(search("dp-allreduce"));
  session_.open_cluster(sample("clusters/gdp.json"));
  session_.settle();
  ASSERT_NO_FATAL_FAILURE(search("dp-allreduce"));
  charts_.show_convergence({1, 2});
  show_window();
  ASSERT_TRUE(shows(2));
  EXPECT_EQ(view().of().currentIndex(), 1);
  charts_.show_convergence({1});
  ASSERT_TRUE(shows(1));
  EXPECT_EQ(view().of().currentIndex(), 0);
}

}  // namespace
}  // namespace strato
