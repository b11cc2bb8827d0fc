// Strategies that divide the op groups of the problem: the window shows them in their own groups,
// and goes back to the problem's.
#include <cstdlib>

#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/outcome.h"
#include "core/search/run/run_record.h"
#include "core/strategy/file/named_strategy.h"
#include "tests/paths.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/model_tester.h"
#include "views/models/op_table_model.h"
#include "views/models/placement_model.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

// The planner op-by-op (tests/op_by_op); before any session looks for plugins.
[[maybe_unused]] const int kPluginPath =
    setenv("STRATOSCOPE_PLUGIN_PATH", (std::string(kBuildFolder) + "/test_plugins").c_str(), 1);

class OwnGroups : public SessionTest {
 protected:
  void search(const char* planner, std::int64_t iterations = 30) {
    PlannerOptions options;
    options.iterations = iterations;
    session_.start_search(planner, options);
    ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
    session_.settle();
    session_.settle();
    ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  }

  const Snapshot& shown() { return session_.snapshot(); }

  // Everything that goes together does, and the outcome is that of the strategy.
  void expect_whole() {
    ASSERT_TRUE(shown().problem && shown().opened);
    const Grouping& grouping = *shown().problem->grouping;
    EXPECT_NO_THROW(validate(shown().strategy, grouping, *shown().problem->cluster));
    EXPECT_EQ(shown().has_own_groups(), shown().strategy.grouping != nullptr);
    EXPECT_EQ(shown().problem->grouping->digest(),
              problem_for(*shown().opened, shown().strategy).grouping->digest());
    for (const GroupId group : session_.selection().groups())
      EXPECT_LT(group.index(), grouping.size());
    ASSERT_TRUE(shown().outcome);
    EXPECT_EQ(step_time(), simulate_strategy(*shown().opened, shown().strategy).score.step_time);
  }
};

TEST_F(OwnGroups, OfASearchAreShownEditedAndUndone) {
  open_lenet();
  PlacementModel placement(session_);
  const QAbstractItemModelTester placement_tester(&placement, kFatal);
  OpTableModel ops(session_);
  const QAbstractItemModelTester ops_tester(&ops, kFatal);
  const auto opened = shown().opened;
  const Strategy before = shown().strategy;
  search("op-by-op");
  expect_whole();
  ASSERT_TRUE(shown().has_own_groups());
  EXPECT_EQ(shown().opened, opened);
  EXPECT_EQ(placement.rowCount(), static_cast<int>(problem().grouping->size()));
  ASSERT_EQ(session_.search().facts.size(), 2u);
  EXPECT_EQ(session_.search().facts[0].name, "stretches");

  const Strategy found = shown().strategy;
  const GroupId last(problem().grouping->size() - 1);
  ASSERT_GE(last.index(), opened->grouping->size());  // an id that the problem's groups lack
  session_.selection().select_group(last);
  session_.decide({last}, decision_on_device(DeviceId(1)), "move");
  session_.settle();
  expect_whole();
  EXPECT_EQ(shown().strategy.grouping, found.grouping);
  EXPECT_EQ(placement.rowCount(), static_cast<int>(problem().grouping->size()));

  session_.undo_stack().undo();  // the edit, if it changed something, else the search
  while (session_.undo_stack().canUndo()) session_.undo_stack().undo();
  session_.settle();
  expect_whole();
  EXPECT_FALSE(shown().has_own_groups());
  EXPECT_EQ(shown().problem, opened);
  EXPECT_EQ(shown().strategy, before);
  EXPECT_EQ(placement.rowCount(), static_cast<int>(opened->grouping->size()));
  while (session_.undo_stack().canRedo()) session_.undo_stack().redo();
  session_.settle();
  expect_whole();
  EXPECT_TRUE(shown().has_own_groups());
}

// Names make no other groups: what is about the problem's groups goes on.
TEST_F(OwnGroups, AreNotThoseThatAreOnlyCalledOtherwise) {
  open_lenet();
  session_.decide({GroupId(1)}, decision_on_device(DeviceId(1)), "move");
  const auto edited = shown().edited;
  ASSERT_FALSE(edited.empty());
  Strategy renamed = shown().strategy;
  renamed.grouping =
      std::make_shared<const Grouping>(problem().grouping->renamed(GroupId(0), "mine"));
  session_.edit(renamed, "rename");
  session_.settle();
  EXPECT_EQ(problem().grouping->group(GroupId(0)).name, "mine");
  EXPECT_FALSE(shown().has_own_groups());
  EXPECT_EQ(shown().edited, edited);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(OwnGroups, SelectionFollowsItsOps) {
  open_lenet();
  search("op-by-op");
  const auto own = shown().problem;
  session_.show_found(data_parallel(*shown().opened), "data parallel");
  session_.settle();
  session_.selection().select_groups({GroupId(0)});
  session_.undo_stack().undo();
  ASSERT_EQ(shown().problem->grouping->digest(), own->grouping->digest());
  const OpGroup& whole = shown().opened->grouping->group(GroupId(0));
  std::size_t ops = 0;
  for (const GroupId group : session_.selection().groups()) {
    for (const OpId op : own->grouping->group(group).ops) {
      EXPECT_TRUE(std::ranges::binary_search(whole.ops, op));
      ++ops;
    }
  }
  EXPECT_EQ(ops, whole.ops.size());
  const OpId op = whole.ops.back();
  session_.selection().select_op(op, own->grouping->group_of(op));
  session_.undo_stack().redo();
  EXPECT_EQ(session_.selection().op(), op);
  EXPECT_EQ(session_.selection().groups(), std::vector{shown().opened->grouping->group_of(op)});
  session_.settle();
  expect_whole();
}

TEST_F(OwnGroups, ATreeSearchWorksInTheProblemsGroups) {
  open_lenet();
  const auto opened = shown().opened;
  search("op-by-op");
  ASSERT_TRUE(shown().has_own_groups());
  search("mcts", 40);
  ASSERT_TRUE(session_.tree());
  EXPECT_EQ(session_.tree()->problem, opened->digest());
  EXPECT_FALSE(shown().has_own_groups());
  expect_whole();
  // Steering goes on beside a strategy with groups of its own.
  const Strategy found = shown().strategy;
  while (session_.undo_stack().canUndo() && !shown().has_own_groups()) session_.undo_stack().undo();
  session_.settle();
  ASSERT_TRUE(shown().has_own_groups());
  PlacementModel placement(session_);
  const QAbstractItemModelTester tester(&placement, kFatal);
  Steering steering;
  steering.pinned.emplace(GroupId(0), decision_on_device(DeviceId(1)));
  session_.steer(steering, "pin");
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(session_.steering(), steering);
  EXPECT_FALSE(placement.index(0, 0).data(PlacementModel::PinnedRole).toBool());
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(0)), "move");
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(1)), "move back");
  session_.continue_with_edits();
  EXPECT_EQ(failures_.size(), 1);  // the edits are of other groups
  EXPECT_EQ(session_.search().state, SearchPhase::Idle);
  session_.settle();
  expect_whole();
}

TEST_F(OwnGroups, ComeBackFromTheWorkspace) {
  open_workspace();
  open_lenet();
  search("op-by-op");
  const Strategy found = shown().strategy;
  const Nanos time = step_time();
  const Decision twice{Mode::Duplicate, {{DeviceId(0), 1}, {DeviceId(1), 1}}};
  session_.decide({GroupId(0)}, twice, "one");
  session_.decide({GroupId(1)}, twice, "two");
  session_.settle();
  session_.settle();
  const Strategy edited = shown().strategy;
  const Nanos edited_time = step_time();
  ASSERT_NE(edited, found);
  const auto runs = session_.workspace()->runs();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_NE(runs[0].note.find("stretches: 7"), std::string::npos) << runs[0].note;

  Session other;
  QStringList failures;
  QObject::connect(&other, &Session::failed, [&](const QString& text) { failures << text; });
  other.open_workspace(session_.workspace()->file());
  other.settle();
  EXPECT_EQ(other.snapshot().strategy, edited);  // where one was
  other.show_run(runs[0].id);
  other.settle();
  EXPECT_EQ(other.snapshot().strategy, found);
  EXPECT_EQ(other.snapshot().strategy.digest(), found.digest());
  EXPECT_EQ(other.snapshot().outcome->timeline->step_time, time);
  EXPECT_TRUE(other.snapshot().has_own_groups());
  EXPECT_EQ(other.snapshot().opened->grouping->digest(), shown().opened->grouping->digest());
  const auto stored = other.workspace()->strategies();
  other.show_strategy(stored.back().id);
  other.settle();
  EXPECT_EQ(other.snapshot().strategy, edited);
  EXPECT_EQ(other.snapshot().outcome->timeline->step_time, edited_time);
  other.show_strategy(stored.front().id);  // data parallel, the first that was shown
  other.settle();
  while (other.undo_stack().canUndo()) other.undo_stack().undo();
  other.settle();
  EXPECT_EQ(other.snapshot().strategy, found);
  EXPECT_TRUE(failures.isEmpty()) << failures.join('\n').toStdString();
}

TEST_F(OwnGroups, ArePartOfAPlan) {
  open_lenet();
  search("op-by-op");
  const Nanos time = step_time();
  const std::size_t groups = problem().grouping->size();
  const std::string file = folder_.filePath("plan.json").toStdString();
  session_.export_plan(file);
  session_.settle();
  qsizetype refused = 0;
  for (const PluginInfo& exporter : session_.plugins().list(PluginKind::Exporter)) {
    const QString name = QString::fromStdString(exporter.name);
    session_.export_with(name, folder_.filePath(name).toStdString());
    refused += is_for_transformers(exporter.name) ? 1 : 0;
  }
  session_.settle();
  EXPECT_EQ(failures_.size(), refused);
  for (const QString& failure : failures_)
    EXPECT_TRUE(failure.contains("give a transformer")) << failure.toStdString();
  Session other;
  other.open_plan(file);
  other.settle();
  ASSERT_TRUE(other.snapshot().outcome);
  EXPECT_EQ(other.snapshot().problem->grouping->size(), groups);
  EXPECT_EQ(other.snapshot().outcome->timeline->step_time, time);
}

TEST_F(OwnGroups, OtherCostsKeepTheStrategy) {
  open_lenet();
  search("op-by-op");
  const Strategy found = shown().strategy;
  session_.close_costs();
  session_.settle();
  EXPECT_EQ(shown().strategy, found);
  expect_whole();
  Simulation ordered;
  ordered.order = TaskOrder::Priority;
  session_.set_simulation(ordered);
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(shown().strategy, found);
}

using SessionCosts = SessionTest;

// A run is shown with the costs that it was made with, and its tree is searched further with them.
TEST_F(SessionCosts, AreRestoredWithTheRun) {
  const std::filesystem::path bundled =
      std::filesystem::path(kSourceFolder) / "resources/calibrations/tensorflow-1.14.json";
  const std::filesystem::path file = folder_.filePath("costs.json").toStdString();
  std::filesystem::copy_file(bundled, file);
  open_workspace();
  open_lenet();
  session_.open_calibration(file);
  session_.settle();
  PlannerOptions options;
  options.iterations = 30;
  session_.start_search("mcts", options);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  session_.settle();
  const Nanos found = step_time();
  {
    Session other;
    QStringList failures;
    QObject::connect(&other, &Session::failed, [&](const QString& text) { failures << text; });
    other.open_workspace(session_.workspace()->file());
    other.settle();
    ASSERT_TRUE(other.snapshot().outcome);
    EXPECT_EQ(other.snapshot().outcome->timeline->step_time, found);
    EXPECT_EQ(describe(other.snapshot().costs), describe(session_.snapshot().costs));
    ASSERT_TRUE(other.tree());
    EXPECT_EQ(other.tree()->problem, other.snapshot().opened->digest());
    const auto before = other.tree()->iterations;
    PlannerOptions more;
    more.iterations = 16;
    other.continue_search(&more);
    ASSERT_TRUE(wait_until([&] { return other.search().state == SearchPhase::Idle; }));
    other.settle();
    EXPECT_TRUE(failures.isEmpty()) << failures.join('\n').toStdString();
    EXPECT_GT(other.tree()->iterations, before);
  }
  std::filesystem::remove(file);  // then the run is still shown, with a word about its costs
  Session other;
  other.open_workspace(session_.workspace()->file());
  other.settle();
  ASSERT_TRUE(other.snapshot().outcome);
  EXPECT_TRUE(other.snapshot().warnings.join('\n').contains("costs.json"))
      << other.snapshot().warnings.join('\n').toStdString();
}

}  // namespace
}  // namespace strato
