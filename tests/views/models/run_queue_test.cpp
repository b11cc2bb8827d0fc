// Searches that wait for each other: order, failures, stops, other problems, and what is stored.
#include "views/models/run_queue.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"

namespace strato {
namespace {

using QueueState = RunQueue::RowState;

class RunQueueTest : public SessionTest {
 protected:
  ~RunQueueTest() override { gate_.open(); }
  void open() {
    open_workspace();
    ASSERT_NO_FATAL_FAILURE(open_lenet());
    queue_ = std::make_unique<RunQueue>(session_, tiny_factory(gate_));
    tester_ = std::make_unique<QAbstractItemModelTester>(
        queue_.get(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  }
  void add(const char* planner) { EXPECT_EQ(queue_->add(planner, as_they_are()), QString()); }
  bool wait_for(int row, QueueState state) {
    return wait_until([&] { return queue_->state(row) == state; });
  }
  bool all_done() {
    return wait_until([&] { return queue_->running_row() < 0 && queue_->waiting() == 0; });
  }
  std::vector<StoredRun> stored() { return Workspace(file(), true).runs().all(); }
  std::filesystem::path file() { return folder_.filePath("test.strata").toStdString(); }

  Gate gate_;
  std::unique_ptr<RunQueue> queue_;
  std::unique_ptr<QAbstractItemModelTester> tester_;
};

TEST_F(RunQueueTest, DoesOneAfterTheOtherAndAFailureHoldsUpNobody) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (const char* planner : {"dp", "refuses", "fails", "nobody-knows-it", "one"}) add(planner);
  ASSERT_TRUE(all_done());
  std::vector<QueueState> states;
  for (int row = 0; row < queue_->rowCount(); ++row) states.push_back(queue_->state(row));
  EXPECT_EQ(states[0], QueueState::Done);
  EXPECT_EQ(states[1], QueueState::Failed);
  EXPECT_EQ(states[2], QueueState::Failed);
  EXPECT_EQ(states[4], QueueState::Done);
  EXPECT_TRUE(queue_->index(1, 0).data(Qt::ToolTipRole).toString().contains("no use for lenet"));
  EXPECT_TRUE(queue_->index(2, 0).data(Qt::ToolTipRole).toString().contains("a bug"));
  const auto runs = stored();
  ASSERT_EQ(runs.size(), 5u);
  EXPECT_EQ(runs[0].state, RunState::Finished);
  EXPECT_EQ(runs[1].state, RunState::Failed);
  EXPECT_NE(runs[1].note.find("no use for lenet"), std::string::npos);
  EXPECT_EQ(runs[4].planner, "one");
  ASSERT_TRUE(runs[4].best);
  EXPECT_EQ(Workspace(file(), true).strategies().find(*runs[4].best)->label, "one #5");
  EXPECT_GT(runs[0].baseline_ns, 0);
  EXPECT_EQ(runs[0].best_ns, runs[0].baseline_ns);  // data parallel it is
  EXPECT_TRUE(failures_.isEmpty());                 // no box in a person's way
}

// Nothing of a run waits for the end: what was found is stored while it goes on.
TEST_F(RunQueueTest, RunsWhileAnotherModelIsOpenAndKeepsToItsOwn) {
  ASSERT_NO_FATAL_FAILURE(open());
  const Digest problem = session_.snapshot().opened->graph->digest();
  const QString cluster = session_.cluster_name();
  add("waits");
  ASSERT_TRUE(wait_until([&] { return queue_->run(0) > 0; }));
  session_.regroup(3);
  session_.settle();
  session_.open_cluster(sample("clusters/gdp.json"));
  session_.settle();
  ASSERT_NE(session_.cluster_name(), cluster);
  session_.start_search("single-device", {});
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  add("dp");
  gate_.open();
  ASSERT_TRUE(all_done());
  const Workspace workspace(file(), true);
  const auto runs = workspace.runs().all();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(workspace.problems().model(runs[0].model)->digest, problem);
  EXPECT_EQ(workspace.problems().cluster(runs[0].cluster)->name, cluster.toStdString());
  EXPECT_EQ(workspace.problems().cluster(runs[2].cluster)->name,
            session_.cluster_name().toStdString());
  EXPECT_EQ(queue_->index(0, RunQueue::ProblemName).data().toString(), "lenet on " + cluster);
  session_.show_run(queue_->run(0));  // and it can be looked at: its model and cluster with it
  session_.settle();
  EXPECT_EQ(session_.cluster_name(), cluster);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(RunQueueTest, WhatWaitsIsMovedAndRemovedAndWhatRunsIsNot) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (const char* planner : {"waits", "dp", "one", "dp-again"}) add(planner);
  EXPECT_EQ(queue_->state(0), QueueState::Running);
  EXPECT_FALSE(queue_->move(0, 1));
  EXPECT_FALSE(queue_->move(1, -1));  // not before the one that runs
  EXPECT_FALSE(queue_->move(3, 1));
  EXPECT_FALSE(queue_->move(-1, 1));
  EXPECT_FALSE(queue_->move(7, -1));
  EXPECT_FALSE(queue_->remove(0));
  EXPECT_FALSE(queue_->remove(-1));
  EXPECT_FALSE(queue_->remove(4));
  EXPECT_TRUE(queue_->move(3, -2));  // dp-again, dp, one
  EXPECT_TRUE(queue_->move(1, 1));   // dp, dp-again, one
  EXPECT_TRUE(queue_->remove(1));    // dp-again, one
  EXPECT_EQ(queue_->waiting(), 2);
  gate_.open();
  ASSERT_TRUE(all_done());
  const auto runs = stored();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[1].planner, "dp-again");
  EXPECT_EQ(runs[2].planner, "one");
  queue_->remove_done();
  EXPECT_EQ(queue_->rowCount(), 0);
  EXPECT_EQ(stored().size(), 3u);  // from the list only
}

TEST_F(RunQueueTest, StoppedOnesKeepTheirBestAndTheNextBegins) {
  ASSERT_NO_FATAL_FAILURE(open());
  add("waits");
  add("one");
  ASSERT_TRUE(wait_until([&] { return queue_->run(0) > 0; }));
  queue_->stop(1);  // it waits: nothing to stop
  EXPECT_EQ(queue_->state(1), QueueState::Waiting);
  queue_->stop(0);
  queue_->stop(0);
  ASSERT_TRUE(all_done());
  EXPECT_EQ(queue_->state(0), QueueState::Stopped);
  EXPECT_EQ(queue_->state(1), QueueState::Done);
  const auto runs = stored();
  EXPECT_EQ(runs.at(0).state, RunState::Stopped);
  EXPECT_TRUE(runs.at(0).best);
}

// The window closes: what runs is stopped, its best is there, nothing is left locked or half done.
TEST_F(RunQueueTest, EndsInTheMiddleAndLosesNothingThatIsDone) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (const char* planner : {"dp", "waits", "one"}) add(planner);
  ASSERT_TRUE(wait_for(1, QueueState::Running));
  ASSERT_TRUE(wait_until([&] { return queue_->run(1) > 0; }));
  tester_.reset();
  queue_.reset();
  const auto runs = stored();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].state, RunState::Finished);
  EXPECT_EQ(runs[1].state, RunState::Stopped);
  EXPECT_TRUE(runs[1].best);
  session_.remove_run(runs[1].id);  // nobody holds it
  session_.settle();
  EXPECT_EQ(stored().size(), 1u);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// Also when it ends at once, before anything of it was told.
TEST_F(RunQueueTest, EndsAtOnce) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (int i = 0; i < 3; ++i) add("waits");
  tester_.reset();
  queue_.reset();
  EXPECT_LE(stored().size(), 1u);
}

TEST_F(RunQueueTest, WhatIsStoredElsewhereIsNoChangeHere) {
  ASSERT_NO_FATAL_FAILURE(open());
  session_.settle();
  session_.open_workspace(folder_.filePath("other.strata").toStdString(), false);
  session_.settle();
  add("waits");
  ASSERT_TRUE(wait_until([&] { return queue_->run(0) > 0; }));
  session_.open_workspace(file(), false);
  session_.settle();
  int changes = 0;
  QObject::connect(&session_, &Session::workspace_changed, [&] { ++changes; });
  gate_.open();
  ASSERT_TRUE(all_done());
  EXPECT_EQ(changes, 0);
  add("dp");
  ASSERT_TRUE(all_done());
  EXPECT_TRUE(wait_until([&] { return changes > 0; }));
}

// What it has found so far is shown; only when it is done may somebody else write its tree.
TEST_F(RunQueueTest, WhatStillRunsIsShownAndNotContinued) {
  ASSERT_NO_FATAL_FAILURE(open());
  PlannerOptions options;
  options.iterations = 30;
  session_.start_search("mcts", options);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  add("waits");
  ASSERT_TRUE(wait_until([&] { return queue_->run(0) > 0; }));
  {
    Workspace workspace(file());
    workspace.runs().save_tree(queue_->run(0), *workspace.runs().tree(1));
  }
  session_.show_run(queue_->run(0));
  session_.settle();
  EXPECT_TRUE(session_.tree());
  EXPECT_EQ(session_.search().planner, "waits");
  EXPECT_FALSE(session_.search().can_continue);
  gate_.open();
  ASSERT_TRUE(all_done());
  session_.show_run(queue_->run(0));
  session_.settle();
  EXPECT_TRUE(session_.search().can_continue);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// A point of the history is lost, the result is not: that is no failure.
TEST_F(RunQueueTest, OneWriteThatFailsIsANote) {
  ASSERT_NO_FATAL_FAILURE(open());
  session_.settle();
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec(
          "CREATE INDEX trouble ON history "
          "(json(CASE WHEN elapsed_seconds = 0.1 THEN '{' ELSE '{}' END))");
  gate_.open();
  add("waits");
  ASSERT_TRUE(all_done());
  EXPECT_EQ(queue_->state(0), QueueState::Done);
  const QString tip = queue_->index(0, 0).data(Qt::ToolTipRole).toString();
  EXPECT_TRUE(tip.contains("malformed JSON")) << tip.toStdString();
  EXPECT_EQ(stored().at(0).state, RunState::Finished);
  EXPECT_TRUE(stored().at(0).best);
}

// That it could not be stored at all is one.
TEST_F(RunQueueTest, AResultThatIsNotStoredIsAFailure) {
  ASSERT_NO_FATAL_FAILURE(open());
  session_.settle();
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("CREATE INDEX trouble ON strategy (json(CASE WHEN id > 0 THEN '{' ELSE '{}' END))");
  add("one");
  ASSERT_TRUE(all_done());
  EXPECT_EQ(queue_->state(0), QueueState::Failed);
  EXPECT_TRUE(queue_->index(0, 0).data(Qt::ToolTipRole).toString().contains("malformed JSON"));
}

TEST_F(RunQueueTest, SaysWhatIsMissing) {
  RunQueue queue(session_, tiny_factory(gate_));
  EXPECT_TRUE(queue.add("dp", {}).contains("model"));
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  EXPECT_TRUE(queue.add("dp", {}).contains("workspace"));
  EXPECT_EQ(queue.rowCount(), 0);
  EXPECT_TRUE(queue.status().isEmpty());
}

// The workspace is gone, or cannot be written: told, and the next one is tried.
TEST_F(RunQueueTest, AWorkspaceThatCannotBeWrittenFailsItsOwnRuns) {
  ASSERT_NO_FATAL_FAILURE(open());
  session_.settle();
  const std::filesystem::path other = folder_.filePath("gone/other.strata").toStdString();
  std::filesystem::create_directory(other.parent_path());
  session_.open_workspace(other, false);
  session_.settle();
  add("waits");
  ASSERT_TRUE(wait_until([&] { return queue_->run(0) > 0; }));
  add("dp");
  session_.open_workspace(file(), false);
  session_.settle();
  add("dp");
  std::filesystem::remove_all(other.parent_path());
  gate_.open();
  ASSERT_TRUE(all_done());
  EXPECT_EQ(queue_->state(1), QueueState::Failed);
  EXPECT_FALSE(queue_->is_in_open_workspace(1));
  EXPECT_EQ(queue_->state(2), QueueState::Done);
  EXPECT_TRUE(queue_->is_in_open_workspace(2));
}

}  // namespace
}  // namespace strato
