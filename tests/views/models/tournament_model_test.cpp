// The table of a tournament while it runs, after it was stopped, and when something else is opened.
#include "views/models/tournament_model.h"

#include <QSignalSpy>

#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/outcome.h"
#include "core/store/workspace.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/model_tester.h"
#include "tests/views/models/tiny_planners.h"

namespace strato {
namespace {

using RowState = TournamentModel::RowState;

class TournamentTable : public SessionTest {
 protected:
  void SetUp() override { tester_ = std::make_unique<QAbstractItemModelTester>(&model_, kFatal); }

  void run_to_the_end(const std::vector<std::string>& planners, int threads = 2) {
    model_.run(planners, as_they_are(threads));
    ASSERT_TRUE(wait_until([&] { return !model_.running(); }));
  }

  QStringList planners() const {
    QStringList names;
    for (int row = 0; row < model_.rowCount(); ++row) names << model_.planner(row);
    return names;
  }
  QString text(int row, int column) const { return model_.index(row, column).data().toString(); }
  int row_of(const char* planner) const { return static_cast<int>(planners().indexOf(planner)); }

  Gate gate_;
  TournamentModel model_{session_, tiny_planners(), tiny_factory(gate_)};
  std::unique_ptr<QAbstractItemModelTester> tester_;
};

TEST_F(TournamentTable, IsEmptyWithoutAProblem) {
  model_.run({"dp"}, as_they_are());
  EXPECT_EQ(model_.rowCount(), 0);
  EXPECT_FALSE(model_.running());
  open_lenet();
  model_.run({}, as_they_are());
  EXPECT_FALSE(model_.running());
}

TEST_F(TournamentTable, RanksWithEqualsAsTheyWereAskedFor) {
  open_lenet();
  const bool one_is_better =
      simulate_strategy(problem(), all_on(problem(), 0), false)
          .score.better_than(simulate_strategy(problem(), data_parallel(problem()), false).score);
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"refuses", "dp-again", "one", "dp"},
        std::vector<std::string>{"dp", "one", "refuses", "dp-again"}}) {
    run_to_the_end(asked);
    QStringList equals;
    for (const std::string& name : asked)
      if (name.starts_with("dp")) equals << QString::fromStdString(name);
    QStringList expected = equals;
    expected.insert(one_is_better ? 0 : 2, QStringLiteral("one"));
    expected << QStringLiteral("refuses");
    EXPECT_EQ(planners(), expected) << planners().join(' ').toStdString();
    const int first_equal = one_is_better ? 1 : 0;
    EXPECT_EQ(text(first_equal, TournamentModel::Rank), QString::number(first_equal + 1));
    EXPECT_EQ(text(first_equal + 1, TournamentModel::Rank), QString::number(first_equal + 1));
    EXPECT_EQ(text(one_is_better ? 0 : 2, TournamentModel::Rank), one_is_better ? "1" : "3");
    EXPECT_EQ(text(3, TournamentModel::Rank), QStringLiteral("–"));
    EXPECT_TRUE(text(3, TournamentModel::Note).contains(QStringLiteral("no use for lenet")));
    EXPECT_EQ(text(first_equal, TournamentModel::Note), QStringLiteral("proven: nothing"));
    EXPECT_EQ(model_.progress().done, 4u);
  }
}

TEST_F(TournamentTable, MarksAreThoseOfTheProblem) {
  open_lenet();
  run_to_the_end({"one"});
  ASSERT_TRUE(model_.marks());
  const Nanos plain = session_.snapshot().baseline->timeline->step_time;
  const Nanos bound = lower_bound(problem());
  EXPECT_NEAR(static_cast<double>(model_.marks()->data_parallel.value),
              static_cast<double>(plain.value), 2);
  EXPECT_NEAR(static_cast<double>(model_.marks()->lower_bound.value),
              static_cast<double>(bound.value), 2);
  EXPECT_NEAR(model_.marks()->bound_speedup, plain / bound, 1e-9);
  run_to_the_end({"dp"});
  EXPECT_NEAR(
      model_.index(0, TournamentModel::Speedup).data(TournamentModel::SpeedupRole).toDouble(), 1,
      1e-9);
}

TEST_F(TournamentTable, ShowsWhatRunsAndStops) {
  open_lenet();
  model_.run({"waits", "dp", "one"}, as_they_are(1));
  ASSERT_TRUE(wait_until([&] { return !text(0, TournamentModel::StepTime).isEmpty(); }));
  EXPECT_EQ(model_.state(0), RowState::Running);
  EXPECT_EQ(model_.state(1), RowState::Waiting);
  EXPECT_EQ(text(0, TournamentModel::Rank), QStringLiteral("–"));
  EXPECT_DOUBLE_EQ(
      model_.index(0, TournamentModel::Note).data(TournamentModel::FractionRole).toDouble(), 0.4);
  EXPECT_FALSE(model_.show(0));
  EXPECT_EQ(model_.progress().done, 0u);
  EXPECT_EQ(model_.progress().cells, 3u);
  QString told;
  model_.keep(0, [&](const QString& text) { told = text; });
  EXPECT_FALSE(told.isEmpty());
  model_.stop();
  EXPECT_TRUE(model_.stopping());
  ASSERT_TRUE(wait_until([&] { return !model_.running(); }));
  EXPECT_EQ(planners(), (QStringList{"waits", "dp", "one"}));
  EXPECT_EQ(model_.state(0), RowState::Done);
  EXPECT_TRUE(text(0, TournamentModel::Note).startsWith(QStringLiteral("stopped")));
  EXPECT_EQ(model_.state(1), RowState::Left);
  EXPECT_EQ(model_.state(2), RowState::Left);
}

TEST_F(TournamentTable, FillsWhileOthersRun) {
  open_lenet();
  model_.run({"waits", "one", "refuses", "dp"}, as_they_are(2));
  ASSERT_TRUE(wait_until([&] {
    return model_.progress().done == 3 && model_.state(row_of("waits")) == RowState::Running;
  }));
  EXPECT_TRUE(model_.running());
  EXPECT_EQ(planners().mid(2), (QStringList{"waits", "refuses"}));
  EXPECT_EQ(text(0, TournamentModel::Rank), "1");
  gate_.open();
  ASSERT_TRUE(wait_until([&] { return !model_.running(); }));
  EXPECT_EQ(planners().back(), "refuses");
  EXPECT_EQ(model_.state(2), RowState::Done);
}

TEST_F(TournamentTable, DropsWhatIsOfAnotherProblem) {
  open_lenet();
  model_.run({"dp", "waits"}, as_they_are());
  ASSERT_TRUE(wait_until([&] { return model_.progress().done == 1; }));
  const Digest before = session_.snapshot().opened->digest();
  session_.open_cluster(sample("clusters/gdp.json"));
  session_.settle();
  ASSERT_NE(session_.snapshot().opened->digest(), before);
  EXPECT_EQ(model_.rowCount(), 0);
  EXPECT_FALSE(model_.running());
  EXPECT_FALSE(model_.marks());
  run_to_the_end({"one"});  // waits for the old one to end, which still sends
  EXPECT_EQ(planners(), QStringList{"one"});
  EXPECT_EQ(model_.state(0), RowState::Done);
  EXPECT_EQ(model_.progress().done, 1u);
}

TEST_F(TournamentTable, ALaterOneReplacesAnEarlierOne) {
  open_lenet();
  model_.run({"waits", "waits", "waits"}, as_they_are());
  ASSERT_TRUE(wait_until([&] { return model_.state(0) == RowState::Running; }));
  run_to_the_end({"one", "dp"});
  EXPECT_EQ(model_.rowCount(), 2);
  EXPECT_EQ(model_.state(0), RowState::Done);
  EXPECT_EQ(model_.state(1), RowState::Done);
}

TEST_F(TournamentTable, TellsABugAndEnds) {
  open_lenet();
  run_to_the_end({"fails", "dp"}, 1);
  EXPECT_EQ(failures_.size(), 1);
  EXPECT_FALSE(model_.running());
  for (int row = 0; row < 2; ++row) EXPECT_EQ(model_.state(row), RowState::Left);
}

TEST_F(TournamentTable, EndsWithWhatRuns) {
  open_lenet();
  {
    TournamentModel model(session_, tiny_planners(), tiny_factory(gate_));
    model.run({"waits", "waits"}, as_they_are());
    ASSERT_TRUE(wait_until([&] { return model.state(0) == RowState::Running; }));
  }
  wait_until([] { return false; }, 0.05);  // nothing comes for a model that is gone
}

TEST_F(TournamentTable, ShowsStrategiesUndoably) {
  open_lenet();
  const Strategy before = session_.snapshot().strategy;
  run_to_the_end({"one", "refuses"});
  EXPECT_EQ(model_.shown_row(), -1);
  EXPECT_FALSE(model_.show(1));
  ASSERT_TRUE(model_.show(0));
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, all_on(problem(), 0));
  EXPECT_EQ(session_.snapshot().label, "one");
  EXPECT_EQ(step_time(), model_.cell(0)->result.score.step_time);
  EXPECT_EQ(model_.shown_row(), 0);
  session_.undo_stack().undo();
  EXPECT_EQ(session_.snapshot().strategy, before);
  EXPECT_EQ(model_.shown_row(), -1);
}

TEST_F(TournamentTable, ShowsStrategiesInTheOrderThatTheyWereComparedIn) {
  open_lenet();
  run_to_the_end({"one", "ordered"});
  model_.show(row_of("ordered"));
  EXPECT_EQ(session_.simulation().order, TaskOrder::Priority);
  model_.show(row_of("one"));
  session_.settle();
  EXPECT_EQ(session_.simulation(), Simulation{});
  EXPECT_EQ(step_time(), model_.cell(row_of("one"))->result.score.step_time);
  session_.set_simulation({TaskOrder::Priority, false});  // a person's choice stays, with a word
  model_.show(row_of("ordered"));
  QSignalSpy message(&session_, &Session::message);
  model_.show(row_of("one"));
  EXPECT_EQ(session_.simulation().order, TaskOrder::Priority);
  EXPECT_EQ(message.count(), 1);
}

TEST_F(TournamentTable, ShowsAndKeepsStrategiesWithGroupsOfTheirOwn) {
  open_workspace();
  open_lenet();
  TournamentModel model(session_, session_.plugins().list(PluginKind::Planner),
                        [this](std::string_view name) { return session_.plugins().planner(name); });
  const QAbstractItemModelTester tester(&model, kFatal);
  model.run({"op-by-op", "dp-allreduce"}, as_they_are());
  ASSERT_TRUE(wait_until([&] { return !model.running(); }));
  const int row = model.planner(0) == "op-by-op" ? 0 : 1;
  const Nanos time = model.cell(row)->result.score.step_time;
  ASSERT_TRUE(model.show(row));
  session_.settle();
  EXPECT_TRUE(session_.snapshot().has_own_groups());
  EXPECT_EQ(step_time(), time);
  EXPECT_EQ(model.rowCount(), 2);  // another grouping, but the same problem
  QString told;
  model.keep(row, [&](const QString& text) { told = text; });
  ASSERT_TRUE(wait_until([&] { return !told.isEmpty(); }));
  EXPECT_TRUE(model.show(1 - row));
  session_.settle();
  EXPECT_FALSE(session_.snapshot().has_own_groups());
  const auto runs = session_.workspace()->runs();
  ASSERT_EQ(runs.size(), 1u);
  session_.show_run(runs[0].id);
  session_.settle();
  EXPECT_TRUE(session_.snapshot().has_own_groups());
  EXPECT_EQ(step_time(), time);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// What the chart of runs draws.
TEST_F(TournamentTable, KeepsTheWholeCourseOfAPlanner) {
  open_workspace();
  open_lenet();
  TournamentModel model(session_, session_.plugins().list(PluginKind::Planner),
                        [this](std::string_view name) { return session_.plugins().planner(name); });
  PlannerOptions options;
  options.iterations = 60;
  model.run({"mcmc"}, options);
  ASSERT_TRUE(wait_until([&] { return !model.running(); }));
  ASSERT_EQ(model.state(0), TournamentModel::RowState::Done);
  QString told;
  model.keep(0, [&](const QString& text) { told = text; });
  ASSERT_TRUE(wait_until([&] { return !told.isEmpty(); }));
  session_.settle();
  ASSERT_EQ(session_.workspace()->runs().size(), 1u);
  const StoredRun& run = session_.workspace()->runs().front();
  const std::vector<HistoryPoint> course = stored().runs().history(run.id);
  ASSERT_GE(course.size(), 2u);  // where it began to be better, and the end
  for (std::size_t i = 1; i < course.size(); ++i) {
    EXPECT_GE(course[i].evaluations, course[i - 1].evaluations);
    EXPECT_GE(course[i].elapsed_seconds, course[i - 1].elapsed_seconds);
  }
  EXPECT_EQ(course.back().best_ns, run.best_ns);
}

TEST_F(TournamentTable, KeepsAResultBesideARunningSearch) {
  open_workspace();
  open_lenet();
  run_to_the_end({"one"});
  PlannerOptions options;
  options.iterations = 60;
  session_.start_search("mcts", options);
  QString told;
  model_.keep(0, [&](const QString& text) { told = text; });
  ASSERT_TRUE(
      wait_until([&] { return !told.isEmpty() && session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  EXPECT_TRUE(told.contains(QStringLiteral("one #"))) << told.toStdString();
  std::size_t tiny = 0, searched = 0;
  for (const StoredRun& run : session_.workspace()->runs()) {
    ASSERT_TRUE(run.best) << run.planner;
    EXPECT_EQ(run.state, RunState::Finished);
    if (run.planner == "one") {
      ++tiny;
      EXPECT_EQ(run.best_ns, model_.cell(0)->result.score.step_time.value);
      EXPECT_EQ(run.note, "proven: nothing");
      EXPECT_GT(run.baseline_ns, 0);
    }
    searched += run.planner == "mcts";
  }
  EXPECT_EQ(tiny, 1u);
  EXPECT_EQ(searched, 1u);
  EXPECT_TRUE(text(0, TournamentModel::Note).startsWith(QStringLiteral("kept as one #")));
  told.clear();
  model_.keep(0, [&](const QString& text) { told = text; });
  EXPECT_TRUE(told.contains(QStringLiteral("already"))) << told.toStdString();
}

TEST_F(TournamentTable, WithoutAWorkspaceSaysSo) {
  open_lenet();
  run_to_the_end({"one"});
  QString told;
  model_.keep(0, [&](const QString& text) { told = text; });
  EXPECT_TRUE(told.contains(QStringLiteral("No workspace"))) << told.toStdString();
}

}  // namespace
}  // namespace strato
