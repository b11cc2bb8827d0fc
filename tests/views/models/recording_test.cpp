// What is done right after another workspace was opened is kept in the one that is shown.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"
#include "tests/paths.h"
#include "tests/views/models/fixture.h"
#include "views/models/recorder.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

class RecordingTest : public SessionTest {
 protected:
  std::filesystem::path file(const char* name) { return folder_.filePath(name).toStdString(); }
  void edit(const QString& label) {
    session_.decide({GroupId(0)}, decision_on_device(DeviceId(edits_++ % 2)), label);
    session_.settle();
    session_.settle();
  }
  void search() {
    session_.start_search(QStringLiteral("dp-allreduce-proportional"), {});
    ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
    session_.settle();
    session_.settle();
  }
  bool has(const char* workspace, const std::string& label) {
    const auto strategies = Workspace(file(workspace), true).strategies().all();
    return std::ranges::any_of(strategies, [&](const auto& each) { return each.label == label; });
  }

  std::size_t edits_ = 0;
};

// The costs that the other workspace's run was made with are read just before it is opened: what it
// shows has the groups of what was shown.
TEST_F(RecordingTest, ARunOfTheSameGroupsIsOfItsWorkspace) {
  const std::filesystem::path costs =
      std::filesystem::path(kSourceFolder) / "resources/calibrations/tensorflow-1.14.json";
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  session_.open_calibration(costs);
  session_.settle();
  ASSERT_NO_FATAL_FAILURE(search());
  session_.open_workspace(file("other.strata"), false, false);
  session_.close_costs();
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  const auto grouping = session_.snapshot().opened->grouping;
  session_.open_calibration(costs);
  session_.open_workspace(file("test.strata"));
  session_.settle();
  session_.settle();
  ASSERT_EQ(session_.snapshot().opened->grouping, grouping);  // else it tests nothing
  EXPECT_TRUE(session_.snapshot().costs.calibration);
  ASSERT_FALSE(session_.search().run.isEmpty());
  edit("in the first");
  EXPECT_TRUE(has("test.strata", "in the first"));
  EXPECT_FALSE(has("other.strata", "in the first"));
  ASSERT_NO_FATAL_FAILURE(search());
  EXPECT_EQ(stored().runs().all().size(), 2u);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(RecordingTest, WhatStaysOpenIsKeptWhereTheLatestCannotBeShown) {
  {
    Session other;
    other.open_workspace(file("damaged.strata"), false);
    ImportOptions import;
    import.batch = 16;
    other.open_model(sample("models/lenet.onnx"), import, {});
    other.settle();
    ASSERT_TRUE(other.snapshot().problem);
    other.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "damaged");
    other.settle();
    ASSERT_TRUE(other.store_all(std::chrono::seconds(60)));
  }
  SQLite::Database(file("damaged.strata").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE value SET bytes = x'00' WHERE digest IN (SELECT json FROM strategy)");
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  const auto shown = session_.snapshot().problem;
  session_.open_workspace(file("damaged.strata"));
  session_.settle();
  ASSERT_FALSE(failures_.isEmpty());
  ASSERT_EQ(session_.snapshot().problem, shown);
  edit("by hand");
  EXPECT_TRUE(has("damaged.strata", "by hand"));
  EXPECT_FALSE(has("test.strata", "by hand"));
}

// What open_lenet() has opened, for a recorder beside the session's.
RecordedProblem recorded(const Snapshot& snapshot) {
  RecordedProblem lenet;
  lenet.problem = snapshot.problem;
  lenet.model.path = sample("models/lenet.onnx");
  lenet.model.name = "lenet";
  lenet.model.graph = lenet.problem->graph;
  lenet.cluster.path = sample("clusters/tag-2x1080ti.json");
  lenet.cluster.cluster = lenet.problem->cluster;
  return lenet;
}

// Two workspaces opened one after the other while a run is searched: its last words are heard.
TEST_F(RecordingTest, ARunEndsWhereItBeganHoweverManyAreOpened) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  const RecordedProblem lenet = recorded(session_.snapshot());
  QStringList failed;
  Recorder recorder(
      {[] {}, [&](const std::string& error) { failed << error.c_str(); }, [](RunRow) {}});
  recorder.open(file("first.strata"));
  recorder.problem(lenet.model, lenet.cluster, lenet.problem);
  recorder.start_run("mcts", {}, Nanos(100));
  for (const bool keep : {true, false, true, false}) {
    WorkspaceOpening opening;
    opening.file = file(keep ? "second.strata" : "third.strata");
    if (keep) opening.keep = lenet;
    opening.opened = [](const OpenedWorkspace&) {};
    recorder.open(opening);
  }
  recorder.wait();
  EXPECT_THROW(RunLock(file("first.strata"), 1), InputError);
  recorder.best({session_.snapshot().strategy, "last words", Origin::Edit, {}, {}});
  recorder.finish_run(RunState::Finished, "");
  recorder.problem(lenet.model, lenet.cluster, lenet.problem);
  recorder.wait();
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
  const auto runs = Workspace(file("first.strata"), true).runs().all();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].state, RunState::Finished);
  EXPECT_TRUE(runs[0].best);
  EXPECT_TRUE(has("first.strata", "last words"));
}

// Nobody has changed anything yet.
TEST_F(RecordingTest, OpeningAnEditIsNoChange) {
  open_workspace();
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  ASSERT_NO_FATAL_FAILURE(search());
  edit("by hand");
  const Digest shown = session_.snapshot().strategy.digest();
  Session other;
  other.open_workspace(file("test.strata"));
  other.settle();
  other.settle();
  ASSERT_EQ(other.snapshot().strategy.digest(), shown);
  ASSERT_TRUE(other.snapshot().outcome);
  EXPECT_EQ(other.snapshot().before, nullptr);
}

// What a search passed on its way to its best is nobody's: neither what is made by hand and equals
// it nor what comes from what it equals is its.
TEST_F(RecordingTest, WhatASearchPassedIsNotTakenForAnEdit) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  const RecordedProblem lenet = recorded(session_.snapshot());
  const auto on = [&](std::size_t group, std::size_t device) {
    return with_decision(session_.snapshot().strategy, std::vector{GroupId(group)},
                         decision_on_device(DeviceId(device)));
  };
  const Strategy start = session_.snapshot().strategy;
  const std::filesystem::path workspace = file("passed.strata");
  const auto with_recorder = [&](const auto& act) {
    Recorder recorder({[] {}, [](const std::string& error) { FAIL() << error; }, [](RunRow) {}});
    recorder.open(workspace);
    recorder.problem(lenet.model, lenet.cluster, lenet.problem);
    act(recorder);
    recorder.wait();
  };
  with_recorder([&](Recorder& recorder) {
    recorder.strategy({start, "start", Origin::Import, {}, {}});
    recorder.start_run("mcts", {}, Nanos(100));
    recorder.best({start, "mcts #1", Origin::Run, {}, {}});
    recorder.best({on(0, 1), "mcts #1", Origin::Run, {}, {}});
    recorder.best({on(1, 1), "mcts #1", Origin::Run, {}, {}});
    recorder.finish_run(RunState::Finished, {});
    recorder.strategy({on(0, 1), "by hand", Origin::Edit, start.digest(), {}});
    recorder.strategy({on(2, 1), "after it", Origin::Edit, on(0, 1).digest(), {}});
    recorder.strategy({on(1, 1), "the best", Origin::Edit, start.digest(), {}});  // is there
  });
  with_recorder([&](Recorder& recorder) {  // opened again
    recorder.strategy({on(3, 0), "later", Origin::Edit, on(0, 1).digest(), {}});
    recorder.strategy({on(3, 1), "of the start", Origin::Edit, start.digest(), {}});
  });
  const Workspace stored(workspace, true);
  const auto row = [&](const std::string& label) {
    for (const StoredStrategy& strategy : stored.strategies().all())
      if (strategy.label == label) return strategy;
    ADD_FAILURE() << label;
    return StoredStrategy();
  };
  EXPECT_FALSE(row("by hand").run);
  EXPECT_EQ(row("by hand").parent, row("start").id);
  EXPECT_EQ(row("after it").parent, row("by hand").id);
  EXPECT_EQ(row("later").parent, row("by hand").id);
  EXPECT_EQ(row("of the start").parent, row("start").id);
  EXPECT_EQ(stored.strategies().all().size(), 6u);
}

// Nothing but a run of an empty workspace: it is not taken.
TEST_F(RecordingTest, ARunWithoutItsProblemIsNotAdopted) {
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  QStringList failed;
  Recorder recorder(
      {[] {}, [&](const std::string& error) { failed << error.c_str(); }, [](RunRow) {}});
  recorder.open(file("empty.strata"));
  StoredRun run;
  run.id = 1;
  recorder.adopt_run(run);
  recorder.best({session_.snapshot().strategy, "found", Origin::Edit, {}, {}});
  recorder.tree(std::make_shared<const SearchTree>());
  recorder.finish_run(RunState::Finished, "");
  recorder.wait();
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
  EXPECT_TRUE(Workspace(file("empty.strata"), true).strategies().all().empty());
}

}  // namespace
}  // namespace strato
