// Steering a search from the window's session: respected, undone, stored at once, and the same
// after the workspace is opened again.
#include "core/search/tree/search_tree.h"
#include "core/store/workspace.h"
#include "tests/views/models/fixture.h"

namespace strato {
namespace {

class SessionSteering : public SessionTest {
 protected:
  void search(std::int64_t iterations = 120) {
    PlannerOptions options;
    options.iterations = iterations;
    options.seed = 7;
    session_.start_search("mcts", options);
    wait_for_end();
    ASSERT_TRUE(session_.tree());
  }
  void wait_for_end() {
    ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
    session_.settle();
  }
  void go_on(std::int64_t iterations) {
    PlannerOptions more;
    more.iterations = iterations;
    session_.continue_search(&more);
    wait_for_end();
  }
  // An action that the search has tried for the first group, but not its best.
  std::int32_t second_best() {
    const SearchTree& tree = *session_.tree();
    const auto best = tree.best_path();
    for (const std::int32_t child : tree.children(0)) {
      if (best.size() < 2 || child != best[1]) return child;
    }
    return -1;
  }
  const SearchTree::Vertex& vertex(std::int32_t id) {
    return session_.tree()->vertices[static_cast<std::size_t>(id)];
  }
  std::string stored_tree(RunRow run) {
    const Workspace workspace(session_.workspace()->file(), true);
    return workspace.runs().tree(run).value_or("");
  }
};

TEST_F(SessionSteering, APinIsRespectedStoredAndTheSameAfterReopening) {
  open_workspace();
  open_lenet();
  search();
  const std::int32_t child = second_best();
  ASSERT_GE(child, 0);
  const GroupId group = session_.tree()->order[0];
  const Decision decision =
      session_.tree()->actions[static_cast<std::size_t>(vertex(child).action)];
  Steering steering = session_.steering();
  steering.pinned.emplace(group, decision);
  session_.steer(steering, "pin");
  session_.settle();
  const RunRow run = session_.workspace()->runs().back().id;
  EXPECT_EQ(stored_tree(run), serialise(*session_.tree()));  // at once, without a search
  const auto iterations = session_.tree()->iterations;
  go_on(60);
  EXPECT_GT(session_.tree()->iterations, iterations);
  EXPECT_EQ(session_.steering(), steering);
  EXPECT_EQ(session_.snapshot().strategy.groups[group], decision);
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();

  Session other;
  other.open_workspace(session_.workspace()->file());
  other.settle();
  ASSERT_TRUE(other.tree());
  EXPECT_EQ(serialise(*other.tree()), serialise(*session_.tree()));
  EXPECT_EQ(other.search_options().seed, 7u);
  PlannerOptions more;
  more.iterations = 20;
  other.continue_search(&more);
  ASSERT_TRUE(wait_until([&] { return other.search().state == SearchPhase::Idle; }));
  EXPECT_GT(other.tree()->iterations, session_.tree()->iterations);
  EXPECT_EQ(other.steering(), steering);
}

TEST_F(SessionSteering, WritesNothingOverWhatAnotherProgramIsChanging) {
  open_workspace();
  open_lenet();
  search();
  const RunRow run = session_.workspace()->runs().back().id;
  const std::string before = stored_tree(run);
  std::optional<RunLock> other(std::in_place, session_.workspace()->file(), run);
  Steering steering;
  steering.weights[path_to(*session_.tree(), second_best())] = 4;
  session_.steer(steering, "boost");
  session_.settle();
  EXPECT_TRUE(stored_tree(run) == before);
  ASSERT_TRUE(wait_until([&] { return !failures_.isEmpty(); }));
  EXPECT_TRUE(failures_.join(' ').contains("by this program itself"));
  session_.remove_run(run);
  session_.settle();
  EXPECT_NE(session_.workspace()->run(run), nullptr);
  failures_.clear();
  other.reset();
  session_.steer(Steering(), "normal");
  session_.settle();
  EXPECT_EQ(stored_tree(run), serialise(*session_.tree()));
}

TEST_F(SessionSteering, EveryStepIsUndone) {
  open_workspace();
  open_lenet();
  search();
  session_.undo_stack().clear();
  const Steering::Path path = path_to(*session_.tree(), second_best());
  Steering steering;
  steering.weights[path] = 4;
  session_.steer(steering, "boost");
  EXPECT_EQ(vertex(find(*session_.tree(), path)).weight, 4);
  steering.weights[path] = 0;
  session_.steer(steering, "exclude");
  EXPECT_EQ(vertex(find(*session_.tree(), path)).weight, 0);
  EXPECT_EQ(session_.undo_stack().count(), 2);
  session_.undo_stack().undo();
  EXPECT_EQ(vertex(find(*session_.tree(), path)).weight, 4);
  session_.undo_stack().undo();
  EXPECT_TRUE(session_.steering().empty());
  session_.undo_stack().redo();
  EXPECT_EQ(vertex(find(*session_.tree(), path)).weight, 4);
  session_.steer(session_.steering(), "nothing new");
  EXPECT_EQ(session_.undo_stack().count(), 2);
  // Another run's tree knows nothing of these steps.
  search(30);
  session_.undo_stack().undo();
  session_.undo_stack().undo();
  EXPECT_TRUE(session_.steering().empty());
}

TEST_F(SessionSteering, AnExcludedBranchIsLeftAlone) {
  open_lenet();
  search();
  const Steering::Path best = path_to(*session_.tree(), session_.tree()->best_path().at(1));
  const auto before = vertex(find(*session_.tree(), best)).visits;
  Steering steering;
  steering.weights[best] = 0;
  session_.steer(steering, "exclude");
  go_on(60);
  EXPECT_EQ(vertex(find(*session_.tree(), best)).visits, before);
  EXPECT_NE(path_to(*session_.tree(), session_.tree()->best_path().at(1)), best);
}

TEST_F(SessionSteering, SearchingDeeperGoesBelowThatBranchOnly) {
  open_lenet();
  search();
  const std::int32_t child = second_best();
  const Steering::Path path = path_to(*session_.tree(), child);
  const SearchTree before = *session_.tree();
  Steering steering;
  steering.focus = path;
  session_.steer(steering, "deeper");
  go_on(40);
  for (const std::int32_t other : session_.tree()->children(0)) {
    const Steering::Path of_other = path_to(*session_.tree(), other);
    const std::int32_t was = find(before, of_other);
    const int grown = vertex(other).visits -
                      (was < 0 ? 0 : before.vertices[static_cast<std::size_t>(was)].visits);
    if (of_other != path) {
      EXPECT_EQ(grown, 0);
    }
  }
}

TEST_F(SessionSteering, ARunningSearchGoesOnWithIt) {
  open_lenet();
  PlannerOptions options;
  options.iterations = 1'000'000;
  session_.start_search("mcts", options);
  ASSERT_TRUE(
      wait_until([&] { return session_.tree() && session_.tree()->vertices[0].child_count > 1; }));
  const GroupId group = session_.tree()->order[0];
  Steering steering;
  steering.pinned.emplace(group, decision_on_device(DeviceId(0)));
  session_.steer(steering, "pin");
  EXPECT_EQ(session_.steering(), steering);
  ASSERT_TRUE(wait_until([&] { return session_.tree()->pinned.size() > 0; }));
  EXPECT_EQ(session_.search().state, SearchPhase::Running);
  session_.stop_search();
  wait_for_end();
  EXPECT_EQ(session_.steering(), steering);
  EXPECT_EQ(session_.snapshot().strategy.groups[group], decision_on_device(DeviceId(0)));
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(SessionSteering, EditsByHandArePinnedWhenTheSearchGoesOn) {
  open_lenet();
  search();
  EXPECT_TRUE(session_.snapshot().edited.empty());
  session_.decide({GroupId(2)}, decision_on_device(DeviceId(1)), "move");
  session_.settle();
  EXPECT_EQ(session_.snapshot().edited, std::vector<GroupId>{GroupId(2)});
  session_.undo_stack().undo();
  EXPECT_TRUE(session_.snapshot().edited.empty());
  session_.undo_stack().redo();
  PlannerOptions more;
  more.iterations = 40;
  session_.continue_with_edits(&more);
  wait_for_end();
  EXPECT_EQ(session_.snapshot().strategy.groups[GroupId(2)], decision_on_device(DeviceId(1)));
  ASSERT_EQ(session_.steering().pinned.size(), 1u);
  EXPECT_TRUE(session_.snapshot().edited.empty());
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// What is found under pins is worse than what was found without: both are there.
TEST_F(SessionSteering, WhatIsFoundUnderPinsTakesNoBettersPlace) {
  open_workspace();
  open_lenet();
  search();
  const Strategy best = session_.snapshot().strategy;
  const std::int64_t best_ns = session_.search().history.back().best_ns;
  const RunRow run = session_.workspace()->runs().back().id;
  Strategy scattered = best;
  for (std::size_t g = 0; g < problem().grouping->size(); ++g)
    scattered.groups[GroupId(g)] = decision_on_device(DeviceId(g % 2));
  session_.edit(scattered, "scattered");
  session_.settle();
  const Digest edit = session_.snapshot().strategy.digest();
  PlannerOptions more;
  more.iterations = 40;
  session_.continue_with_edits(&more);
  wait_for_end();
  const Strategy shown = session_.snapshot().strategy;
  ASSERT_GT(session_.search().progress.best->step_time.value, best_ns);  // else it tests nothing
  ASSERT_NE(shown.digest(), best.digest());

  const Workspace workspace = stored();
  const StoredRun kept = *workspace.runs().find(run);
  EXPECT_EQ(kept.best_ns, best_ns);
  EXPECT_EQ(workspace.strategies().find(*kept.best)->digest, best.digest());
  for (const auto& history : {workspace.runs().history(run), session_.search().history})
    for (std::size_t i = 1; i < history.size(); ++i)
      EXPECT_LE(history[i].best_ns, history[i - 1].best_ns) << i;
  if (shown.digest() != edit) {
    const auto strategies = workspace.strategies().all();
    const auto row = std::ranges::find(strategies, shown.digest(), &StoredStrategy::digest);
    ASSERT_NE(row, strategies.end());
    EXPECT_FALSE(row->run);
    ASSERT_TRUE(row->parent);
    EXPECT_EQ(workspace.strategies().find(*row->parent)->digest, edit);
    EXPECT_EQ(session_.snapshot().label.toStdString(), row->label);
  }

  Session other;
  other.open_workspace(session_.workspace()->file());
  other.settle();
  EXPECT_EQ(other.snapshot().strategy.digest(), shown.digest());
  other.show_run(run);
  other.settle();
  EXPECT_EQ(other.snapshot().strategy.digest(), best.digest());
  // One that is better takes its place, and one that is not does not, also after reopening.
  other.continue_search(&more);
  ASSERT_TRUE(wait_until([&] { return other.search().state == SearchPhase::Idle; }));
  other.settle();
  EXPECT_LE(stored().runs().find(run)->best_ns, best_ns);
}

// Also where what was changed before is of no group.
TEST_F(SessionSteering, WhatIsFoundUnderPinsIsUnderTheEditThatItWentOnFrom) {
  open_workspace();
  open_lenet();
  search();
  const Nanos best = session_.search().progress.best->step_time;
  Strategy strategy = session_.snapshot().strategy;
  strategy.bucket = Bytes(1234567);
  session_.edit(strategy, "smaller buckets");
  session_.settle();
  const Digest edit = session_.snapshot().strategy.digest();
  Steering steering;
  for (std::size_t g = 0; g + 1 < problem().grouping->size(); ++g)
    steering.pinned.emplace(GroupId(g), decision_on_device(DeviceId(g % 2)));
  session_.steer(steering, "scattered");
  go_on(40);
  const Strategy shown = session_.snapshot().strategy;
  ASSERT_GT(session_.search().progress.best->step_time, best);  // else it tests nothing
  const Workspace workspace = stored();
  const auto strategies = workspace.strategies().all();
  const auto row = std::ranges::find(strategies, shown.digest(), &StoredStrategy::digest);
  ASSERT_NE(row, strategies.end());
  ASSERT_TRUE(row->parent);
  EXPECT_EQ(workspace.strategies().find(*row->parent)->digest, edit);
}

TEST_F(SessionSteering, APinOutsideTheClusterIsRefusedInWords) {
  open_lenet();
  search();
  Steering steering;
  steering.pinned.emplace(GroupId(0), decision_on_device(DeviceId(77)));
  session_.steer(steering, "nowhere");
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_FALSE(failures_[0].contains('\n'));
  EXPECT_TRUE(session_.steering().empty());
  go_on(10);
  EXPECT_EQ(failures_.size(), 1) << failures_.join('\n').toStdString();
}

// Everything of VGG19's size on one small device does not fit: that is a result, with its reasons.
TEST_F(SessionSteering, APinThatCannotFitIsAResult) {
  open("models/vgg19.onnx", 1 << 15, 6);
  search(20);
  Steering steering;
  for (std::size_t g = 0; g < problem().grouping->size(); ++g) {
    steering.pinned.emplace(GroupId(g), decision_on_device(DeviceId(0)));
  }
  session_.steer(steering, "all on one");
  go_on(10);
  EXPECT_EQ(session_.search().state, SearchPhase::Idle);
  EXPECT_FALSE(session_.snapshot().outcome->timeline->feasible);
  EXPECT_FALSE(session_.search().note.isEmpty());
  EXPECT_EQ(session_.steering(), steering);
}

TEST_F(SessionSteering, AnotherRunOfTheProblemIsComparedAndOneOfAnotherIsNot) {
  open_workspace();
  open_lenet();
  search(60);
  const RunRow first = session_.workspace()->runs().back().id;
  search(90);
  ASSERT_EQ(session_.runs_to_compare().size(), 1u);
  session_.compare_with(first);
  session_.settle();
  ASSERT_TRUE(session_.compared());
  EXPECT_EQ(session_.compared()->run, first);
  session_.stop_comparing();
  EXPECT_FALSE(session_.compared());
  session_.open_cluster(sample("clusters/gdp.json"));
  session_.settle();
  search(20);
  EXPECT_TRUE(session_.runs_to_compare().empty());
  session_.compare_with(first);
  session_.settle();
  EXPECT_EQ(failures_.size(), 1);
  EXPECT_FALSE(session_.compared());
}

TEST_F(SessionSteering, ADamagedTreeIsToldAndTheRestOfTheRunIsShown) {
  open_workspace();
  open_lenet();
  search(60);
  const RunRow run = session_.workspace()->runs().back().id;
  const auto file = session_.workspace()->file();
  const std::string bytes = stored_tree(run);
  Workspace(file).runs().save_tree(run, std::string_view(bytes).substr(0, bytes.size() / 2));
  Session other;
  QStringList messages;
  QObject::connect(&other, &Session::failed, [&](const QString& text) { messages << text; });
  other.open_workspace(file);
  other.settle();
  EXPECT_TRUE(messages.isEmpty());
  EXPECT_FALSE(other.search().tree_error.isEmpty());
  EXPECT_FALSE(other.tree());
  EXPECT_FALSE(other.search().can_continue);
  ASSERT_TRUE(other.snapshot().outcome);
  EXPECT_EQ(other.snapshot().strategy, session_.snapshot().strategy);
  EXPECT_FALSE(other.search().history.empty());
}

}  // namespace
}  // namespace strato
