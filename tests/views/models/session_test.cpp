#include <chrono>
#include <fstream>
#include <thread>

#include "core/search/constraints/constraints.h"
#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"
#include "views/models/strategy_edits.h"
#include "views/models/vital_signs.h"

namespace strato {
namespace {

using SessionFiles = SessionTest;
using SessionEdits = SessionTest;
using SessionSearch = SessionTest;

TEST_F(SessionFiles, OpensAModelOnACluster) {
  open_lenet();
  const Snapshot& snapshot = session_.snapshot();
  EXPECT_EQ(snapshot.problem->graph->batch(), 16);
  EXPECT_TRUE(snapshot.strategy.is_complete());
  EXPECT_EQ(snapshot.outcome->timeline->step_time, snapshot.baseline->timeline->step_time);
  EXPECT_GT(snapshot.lower_bound, Nanos(0));
  EXPECT_LE(snapshot.lower_bound, step_time());
  EXPECT_EQ(session_.model_name(), "lenet");
}

TEST_F(SessionFiles, ABadFileIsOneLineAndKeepsWhatIsShown) {
  open_lenet();
  const auto before = session_.snapshot().problem;
  const std::string bad = folder_.filePath("bad.onnx").toStdString();
  std::ofstream(bad) << "this is no model";
  session_.open_model(bad, {}, {});
  session_.open_cluster(folder_.filePath("none.json").toStdString());
  session_.settle();
  ASSERT_EQ(failures_.size(), 2);
  EXPECT_TRUE(failures_[0].contains("bad.onnx")) << failures_[0].toStdString();
  EXPECT_FALSE(failures_[0].contains('\n'));
  EXPECT_EQ(session_.snapshot().problem, before);
  EXPECT_FALSE(session_.busy());
}

TEST_F(SessionFiles, ABadWorkspaceIsRefused) {
  const std::string bad = folder_.filePath("bad.strata").toStdString();
  std::ofstream(bad) << std::string(5000, 'x');
  session_.open_workspace(bad);
  session_.settle();
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_EQ(session_.workspace(), nullptr);
}

TEST_F(SessionFiles, APlanComesBackAsItWas) {
  open_lenet();
  const std::string file = folder_.filePath("plan.json").toStdString();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(1)), "move");
  session_.settle();
  const Strategy strategy = session_.snapshot().strategy;
  const Nanos time = step_time();
  session_.export_plan(file);
  session_.settle();
  Session other;
  QStringList failures;
  QObject::connect(&other, &Session::failed, [&](const QString& text) { failures << text; });
  other.open_plan(file);
  other.settle();
  ASSERT_TRUE(failures.isEmpty()) << failures.join('\n').toStdString();
  EXPECT_EQ(other.snapshot().strategy, strategy);
  EXPECT_EQ(other.snapshot().outcome->timeline->step_time, time);
}

TEST_F(SessionFiles, ExportsWithEveryExporterAndTellsWhatFails) {
  open_lenet();
  const auto exporters = session_.plugins().list(PluginKind::Exporter);
  ASSERT_FALSE(exporters.empty());
  for (const PluginInfo& exporter : exporters) {
    if (is_for_transformers(exporter.name)) continue;
    const std::filesystem::path file =
        folder_.filePath(QString::fromStdString(exporter.name)).toStdString();
    session_.export_with(QString::fromStdString(exporter.name), file);
    session_.settle();
    std::uintmax_t bytes =
        std::filesystem::is_directory(file) ? 0 : std::filesystem::file_size(file);
    if (bytes == 0) {
      for (const auto& each : std::filesystem::directory_iterator(file)) bytes += each.file_size();
    }
    EXPECT_GT(bytes, 100u) << exporter.name;
  }
  EXPECT_TRUE(failures_.isEmpty());
  session_.export_plan("/no/such/folder/plan.json");
  session_.settle();
  EXPECT_EQ(failures_.size(), 1);
}

TEST_F(SessionEdits, AnEditIsSimulatedAndUndone) {
  open_lenet();
  const Nanos before = step_time();
  const Strategy original = session_.snapshot().strategy;
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "move");
  EXPECT_NE(session_.snapshot().strategy, original);  // at once
  session_.settle();
  EXPECT_NE(step_time(), before);
  ASSERT_TRUE(session_.snapshot().before);
  EXPECT_EQ(vital_signs(session_.snapshot())->delta, step_time() - before);
  session_.undo_stack().undo();
  EXPECT_EQ(session_.snapshot().strategy, original);
  EXPECT_EQ(step_time(), before);  // known: no simulation is waited for
  session_.undo_stack().redo();
  EXPECT_NE(step_time(), before);
}

TEST_F(SessionEdits, AnImpossibleEditIsRefused) {
  open_lenet();
  const Strategy before = session_.snapshot().strategy;
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(99)), "nowhere");
  EXPECT_EQ(failures_.size(), 1);
  EXPECT_EQ(session_.snapshot().strategy, before);
  EXPECT_EQ(session_.undo_stack().count(), 0);
}

TEST_F(SessionEdits, AnEditWithoutAChangeIsNoStep) {
  open_lenet();
  session_.edit(session_.snapshot().strategy, "nothing");
  EXPECT_EQ(session_.undo_stack().count(), 0);
}

TEST_F(SessionEdits, OnlyTheLastOfManyQuickEditsIsShownButAllAreStored) {
  open_workspace();
  open_lenet();
  session_.open_cluster(sample("clusters/gdp.json"));
  session_.settle();
  for (std::size_t device = 0; device < 4; ++device) {
    session_.decide({GroupId(0)}, decision_on_device(DeviceId(device)), "move");
  }
  session_.settle();
  const auto& decision = session_.snapshot().strategy.groups[GroupId(0)];
  EXPECT_EQ(decision->devices.front().device, DeviceId(3));
  session_.settle();
  EXPECT_EQ(session_.workspace()->strategies().size(), 5u);  // with data parallel, their root
}

TEST_F(SessionEdits, EveryEditIsStoredWithItsParent) {
  open_workspace();
  open_lenet();
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "first");
  session_.settle();
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), "second");
  session_.settle();
  session_.settle();
  const auto stored = session_.workspace()->strategies();
  ASSERT_EQ(stored.size(), 3u);
  EXPECT_FALSE(stored[0].parent);
  EXPECT_EQ(stored[1].parent, stored[0].id);
  EXPECT_EQ(stored[2].parent, stored[1].id);
  EXPECT_EQ(stored[2].step_time_ns, step_time().value);
  EXPECT_EQ(stored[2].label, "second");
}

TEST_F(SessionSearch, FindsStoresAndCanBeShownAgain) {
  open_workspace();
  open_lenet();
  PlannerOptions options;
  options.iterations = 60;
  session_.start_search("mcts", options);
  EXPECT_EQ(session_.search().state, SearchPhase::Running);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  ASSERT_TRUE(session_.tree());
  EXPECT_LE(step_time(), session_.snapshot().baseline->timeline->step_time);
  const Nanos found = step_time();
  const Strategy best = session_.snapshot().strategy;
  const auto runs = session_.workspace()->runs();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].state, RunState::Finished);
  ASSERT_TRUE(runs[0].best);
  EXPECT_FALSE(stored().runs().history(runs[0].id).empty());

  Session other;
  other.open_workspace(session_.workspace()->file());
  other.settle();
  ASSERT_TRUE(other.snapshot().outcome);
  EXPECT_EQ(other.snapshot().strategy, best);
  EXPECT_EQ(other.snapshot().outcome->timeline->step_time, found);
  ASSERT_TRUE(other.tree());
  EXPECT_EQ(other.tree()->vertices.size(), session_.tree()->vertices.size());
  EXPECT_TRUE(other.search().can_continue);
}

TEST_F(SessionSearch, ASearchIsOneStepToUndo) {
  open_lenet();
  const Strategy before = session_.snapshot().strategy;
  PlannerOptions options;
  options.iterations = 60;
  session_.start_search("mcts", options);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  if (session_.snapshot().strategy != before) {
    EXPECT_EQ(session_.undo_stack().count(), 1);
    session_.undo_stack().undo();
  }
  EXPECT_EQ(session_.snapshot().strategy, before);
}

TEST_F(SessionSearch, PausesContinuesAndStops) {
  open_lenet();
  PlannerOptions options;
  options.iterations = 1000000;
  session_.start_search("mcts", options);
  ASSERT_TRUE(wait_until([&] { return session_.search().progress.iterations > 0; }));
  session_.pause_search();
  wait_until([] { return false; }, 0.5);
  const auto paused_at = session_.search().progress.iterations;
  wait_until([] { return false; }, 0.5);
  EXPECT_EQ(session_.search().progress.iterations, paused_at);
  session_.continue_search();
  ASSERT_TRUE(wait_until([&] { return session_.search().progress.iterations > paused_at; }));
  session_.stop_search();
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  ASSERT_TRUE(session_.search().can_continue);
  const auto stopped_at = session_.tree()->iterations;
  PlannerOptions more;
  more.iterations = 30;
  session_.continue_search(&more);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  EXPECT_GT(session_.tree()->iterations, stopped_at);
}

TEST_F(SessionSearch, AnotherModelAbandonsTheSearch) {
  open_lenet();
  PlannerOptions options;
  options.iterations = 1000000;
  session_.start_search("mcts", options);
  ASSERT_TRUE(wait_until([&] { return session_.search().progress.iterations > 0; }));
  session_.open_cluster(sample("clusters/gdp.json"));
  session_.settle();
  EXPECT_EQ(session_.search().state, SearchPhase::Idle);
  EXPECT_EQ(session_.snapshot().problem->cluster->device_count(), 8u);
  wait_until([] { return false; }, 0.3);  // what the old search still posts changes nothing
  EXPECT_EQ(session_.search().history.size(), 0u);
}

TEST_F(SessionSearch, AnUnknownPlannerFails) {
  open_lenet();
  session_.start_search("no-such-planner", {});
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_[0].contains("no-such-planner"));
}

TEST_F(SessionSearch, ClosingDuringASearchKeepsItsBest) {
  const std::string file = folder_.filePath("closing.strata").toStdString();
  {
    Session closing;
    closing.open_workspace(file, false);
    ImportOptions import;
    import.batch = 16;
    closing.open_model(sample("models/lenet.onnx"), import, {});
    closing.settle();
    PlannerOptions options;
    options.iterations = 1000000;
    closing.start_search("mcts", options);
    ASSERT_TRUE(wait_until([&] { return closing.search().progress.iterations > 20; }));
  }
  const Workspace workspace(file, true);
  ASSERT_EQ(workspace.runs().all().size(), 1u);
  EXPECT_EQ(workspace.runs().all()[0].state, RunState::Stopped);
}

// A window may be closed at any moment of a load.
TEST(SessionAlone, EndsWhileItLoads) {
  for (int round = 0; round < 25; ++round) {
    Session session;
    ImportOptions import;
    import.batch = 16;
    session.open_cluster(sample("clusters/tag-2x1080ti.json"));
    session.open_model(sample("models/lenet.onnx"), import, {});
    std::this_thread::sleep_for(std::chrono::microseconds(400 * round));
  }
}

// Costs that change keep the strategy; but not on a cluster that is opened before they are read.
TEST_F(SessionTest, AnotherClusterRightAfterOtherCostsStartsAnew) {
  ImportOptions import;
  import.batch = 16;
  ProblemOptions options;
  options.grouping.max_groups = 8;
  open_lenet();
  for (const char* cluster :
       {"clusters/local-cpu.json", "clusters/fastt-8xv100.json", "clusters/tag-2x1080ti.json"}) {
    session_.close_costs();
    session_.open_cluster(sample(cluster));
    session_.open_model(sample("models/lenet.onnx"), import, options);
    session_.settle();
    ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
    EXPECT_EQ(session_.snapshot().label, "Data parallel") << cluster;
    EXPECT_EQ(session_.snapshot().strategy, data_parallel(problem())) << cluster;
  }
}

// Each workspace has the demands that were made in it, and none writes over another's.
TEST_F(SessionTest, DemandsAreThoseOfTheWorkspace) {
  open_workspace();
  open_lenet();
  Constraints demand;
  demand.limits.push_back({{"*", {}}, 1});
  ASSERT_TRUE(session_.constrain(demand, "one device"));
  session_.settle();
  session_.open_workspace(folder_.filePath("second.strata").toStdString(), false);
  session_.settle();
  EXPECT_EQ(session_.constraints(), nullptr);
  Constraints other;
  other.limits.push_back({{"*", {}}, 2});
  ASSERT_TRUE(session_.constrain(other, "two devices"));
  session_.settle();
  open_workspace();
  ASSERT_NE(session_.constraints(), nullptr);
  EXPECT_EQ(*session_.constraints(), demand);
  EXPECT_NE(session_.bound_constraints(), nullptr);
}

// What is done after another workspace was opened under an open problem is kept there, also where
// that has nothing to show.
TEST_F(SessionTest, AnEmptyWorkspaceTakesWhatIsDoneInIt) {
  open_lenet();
  session_.open_workspace(folder_.filePath("empty.strata").toStdString());
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "by hand");
  session_.settle();
  session_.settle();
  bool there = false;
  for (const StoredStrategy& stored : session_.workspace()->strategies())
    there |= stored.label == "by hand";
  EXPECT_TRUE(there);
}

// What was still on its way from one workspace is not shown in another.
TEST_F(SessionTest, ALoadBelongsToItsWorkspace) {
  open_workspace();
  open_lenet();
  session_.start_search(QStringLiteral("dp-allreduce-proportional"), {});
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  session_.settle();
  const std::filesystem::path first = session_.workspace()->file();
  Session other;
  other.open_workspace(first);
  other.open_workspace(folder_.filePath("second.strata").toStdString(), false);
  other.settle();
  EXPECT_EQ(other.snapshot().problem, nullptr);
  EXPECT_TRUE(other.workspace()->models().empty());
  other.open_workspace(first);
  other.settle();
  ASSERT_NE(other.snapshot().problem, nullptr);
  EXPECT_EQ(other.snapshot().strategy, session_.snapshot().strategy);
}

// A workspace that has nothing to do with what is open, or on its way.
TEST_F(SessionTest, AnotherWorkspaceNeedNotKnowWhatIsOpen) {
  open_workspace();
  open_lenet();
  const auto shown = session_.snapshot().problem;
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  session_.open_workspace(folder_.filePath("second.strata").toStdString(), false, false);
  session_.settle();
  EXPECT_EQ(session_.snapshot().problem, shown);
  EXPECT_TRUE(session_.workspace()->models().empty());
  EXPECT_TRUE(session_.workspace()->clusters().empty());
  open_lenet();  // the same again is this workspace's own
  EXPECT_EQ(session_.workspace()->models().size(), 1u);
}

}  // namespace
}  // namespace strato
