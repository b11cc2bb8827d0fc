#include "core/store/workspace.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/random.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

std::string noise(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

StoredModel lenet() {
  return {0,
          "lenet",
          "/models/lenet.onnx",
          R"({"batch":64})",
          digest_of("lenet"),
          std::string(5000, 'x')};
}
StoredCluster testbed() { return {0, "testbed", R"({"machines":[]})", digest_of("testbed")}; }

struct Filled {
  ModelRow model;
  ClusterRow cluster;
  RunRow run;
};
Filled fill(Workspace& workspace) {
  Filled rows{workspace.add(lenet()), workspace.add(testbed()), 0};
  StoredRun run;
  run.model = rows.model;
  run.cluster = rows.cluster;
  run.planner = "mcts";
  run.options = R"({"seed":1})";
  rows.run = workspace.add(run);
  return rows;
}
StoredStrategy strategy_of(const Filled& rows, const std::string& json) {
  StoredStrategy strategy;
  strategy.model = rows.model;
  strategy.cluster = rows.cluster;
  strategy.run = rows.run;
  strategy.label = "best";
  strategy.json = json;
  strategy.digest = digest_of(json);
  strategy.step_time_ns = 123'456'789'012;
  strategy.feasible = true;
  return strategy;
}

TEST(Workspace, SettingsOfARunGoWithIt) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const Filled rows = fill(workspace);
  const std::string key = "run/" + std::to_string(rows.run) + "/curves";
  const std::string other = "run/" + std::to_string(rows.run) + "0/curves";
  workspace.settings().set(key, "[]");
  workspace.settings().set(other, "[]");
  workspace.settings().set("window", "docks");
  workspace.runs().remove(rows.run);
  EXPECT_FALSE(workspace.settings().find(key));
  EXPECT_TRUE(workspace.settings().find(other));
  EXPECT_TRUE(workspace.settings().find("window"));
}

TEST(Workspace, EveryRowComesBackAfterReopening) {
  TemporaryFolder folder;
  Filled rows;
  StrategyRow best = 0;
  {
    Workspace workspace(folder / "a.strata");
    rows = fill(workspace);
    best = workspace.add(strategy_of(rows, "{\"groups\": 1}"));
    StoredRun run = *workspace.runs().find(rows.run);
    run.state = RunState::Finished;
    run.best = best;
    run.baseline_ns = 20;
    run.best_ns = 10;
    run.evaluations = 800;
    run.wall_seconds = 1.5;
    run.note = "dp-ps won";
    workspace.update(run);
    workspace.runs().add_history(rows.run, {1, 0.25, 20});
    workspace.runs().add_history(rows.run, {2, 0.5, 10});
    workspace.runs().save_tree(rows.run, std::string(3000, 't') + '\0' + "end");
    workspace.settings().set("window", "docks");
  }
  Workspace workspace(folder / "a.strata");
  const StoredModel model = *workspace.problems().model(rows.model);
  EXPECT_EQ(model.name, "lenet");
  EXPECT_EQ(model.path, "/models/lenet.onnx");
  EXPECT_EQ(model.options, R"({"batch":64})");
  EXPECT_EQ(model.digest, digest_of("lenet"));
  EXPECT_EQ(model.content, std::string(5000, 'x'));
  EXPECT_EQ(workspace.problems().cluster(rows.cluster)->json, R"({"machines":[]})");
  const StoredStrategy strategy = *workspace.strategies().find(best);
  EXPECT_EQ(strategy.json, "{\"groups\": 1}");
  EXPECT_EQ(strategy.run, rows.run);
  EXPECT_FALSE(strategy.parent.has_value());
  EXPECT_EQ(strategy.step_time_ns, 123'456'789'012);
  EXPECT_TRUE(strategy.feasible);
  EXPECT_EQ(strategy.created.size(), 20u);
  EXPECT_EQ(strategy.created.back(), 'Z');
  const StoredRun run = *workspace.runs().find(rows.run);
  EXPECT_EQ(run.planner, "mcts");
  EXPECT_EQ(run.state, RunState::Finished);
  EXPECT_EQ(run.best, best);
  EXPECT_EQ(run.baseline_ns, 20);
  EXPECT_EQ(run.evaluations, 800);
  EXPECT_EQ(run.wall_seconds, 1.5);
  EXPECT_EQ(run.note, "dp-ps won");
  ASSERT_EQ(workspace.runs().history(rows.run).size(), 2u);
  EXPECT_EQ(workspace.runs().history(rows.run)[1].best_ns, 10);
  EXPECT_EQ(*workspace.runs().tree(rows.run), std::string(3000, 't') + '\0' + "end");
  EXPECT_EQ(workspace.settings().find("window"), "docks");
}

TEST(Workspace, MissingRowsAreNothing) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  EXPECT_FALSE(workspace.problems().model(1));
  EXPECT_FALSE(workspace.problems().cluster(1));
  EXPECT_FALSE(workspace.strategies().find(1));
  EXPECT_FALSE(workspace.runs().find(1));
  EXPECT_FALSE(workspace.runs().tree(1));
  EXPECT_FALSE(workspace.settings().find("x"));
  EXPECT_TRUE(workspace.runs().history(1).empty());
  EXPECT_TRUE(workspace.runs().all().empty());
}

TEST(Workspace, EqualValuesAreKeptOnce) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const Filled rows = fill(workspace);
  EXPECT_EQ(workspace.add(lenet()), rows.model);
  EXPECT_EQ(workspace.add(testbed()), rows.cluster);
  StoredCluster priced = testbed();  // what is no part of the digest is as it was added last
  priced.json = R"({"machines":[], "price": 3})";
  EXPECT_EQ(workspace.add(priced), rows.cluster);
  EXPECT_EQ(workspace.problems().cluster(rows.cluster)->json, priced.json);
  EXPECT_EQ(workspace.add(testbed()), rows.cluster);
  StoredModel other = lenet();
  other.options = R"({"batch":128})";
  EXPECT_NE(workspace.add(other), rows.model) << "another batch is another model row";
  EXPECT_EQ(workspace.problems().models().size(), 2u);
  EXPECT_TRUE(workspace.problems().models()[0].content.empty());
}

TEST(Workspace, StrategyKeepsItsFirstParent) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const Filled rows = fill(workspace);
  const StrategyRow first = workspace.add(strategy_of(rows, "one"));
  StoredStrategy edit = strategy_of(rows, "two");
  edit.origin = Origin::Edit;
  edit.run.reset();
  edit.parent = first;
  const StrategyRow second = workspace.add(edit);
  edit.parent = second;
  EXPECT_EQ(workspace.add(edit), second);
  EXPECT_EQ(workspace.strategies().find(second)->parent, first);
  EXPECT_EQ(workspace.strategies().find(second)->origin, Origin::Edit);
  workspace.strategies().rename(second, "mine");
  EXPECT_EQ(workspace.strategies().all()[1].label, "mine");
}

// A run's best stays its own; what it had on its way is whose it is made by hand, but for what
// would come from itself.
TEST(Workspace, WhatARunOnlyPassedBecomesAnEdit) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const Filled rows = fill(workspace);
  const StrategyRow passed = workspace.add(strategy_of(rows, "passed"));
  const StrategyRow best = workspace.add(strategy_of(rows, "best"));
  StoredRun run = *workspace.runs().find(rows.run);
  run.best = best;
  workspace.update(run);
  const auto edit_of = [&](const char* text, std::optional<StrategyRow> parent) {
    StoredStrategy edit = strategy_of(rows, text);
    edit.origin = Origin::Edit;
    edit.run.reset();
    edit.parent = parent;
    edit.label = "by hand";
    return edit;
  };
  const StrategyRow below = workspace.add(edit_of("below", passed));
  EXPECT_EQ(workspace.add(edit_of("passed", below)), passed);
  EXPECT_EQ(workspace.strategies().find(passed)->run, rows.run);
  EXPECT_EQ(workspace.add(edit_of("passed", passed)), passed);
  EXPECT_EQ(workspace.strategies().find(passed)->run, rows.run);
  EXPECT_EQ(workspace.add(edit_of("best", below)), best);
  EXPECT_EQ(workspace.strategies().find(best)->run, rows.run);
  EXPECT_NE(workspace.strategies().find(best)->label, "by hand");
  EXPECT_EQ(workspace.add(edit_of("passed", best)), passed);
  EXPECT_FALSE(workspace.strategies().find(passed)->run);
  EXPECT_EQ(workspace.strategies().find(passed)->parent, best);
  EXPECT_EQ(workspace.strategies().find(passed)->label, "by hand");
  EXPECT_EQ(workspace.strategies().find(passed)->origin, Origin::Edit);
}

TEST(Workspace, RemovedRunLeavesItsStrategies) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const Filled rows = fill(workspace);
  const StrategyRow strategy = workspace.add(strategy_of(rows, "one"));
  workspace.runs().add_history(rows.run, {1, 1, 1});
  workspace.runs().save_tree(rows.run, "tree");
  workspace.runs().remove(rows.run);
  EXPECT_TRUE(workspace.runs().all().empty());
  EXPECT_TRUE(workspace.runs().history(rows.run).empty());
  EXPECT_FALSE(workspace.runs().tree(rows.run));
  EXPECT_FALSE(workspace.strategies().find(strategy)->run.has_value());
  EXPECT_THROW(workspace.runs().add_history(rows.run, {1, 1, 1}), InputError);
  StoredRun gone;
  gone.id = rows.run;
  EXPECT_THROW(workspace.update(gone), InputError);
  EXPECT_NE(fill(workspace).run, rows.run) << "a number is not used twice";
}

TEST(Workspace, LargeValuesAreCompressedAndExact) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const Filled rows = fill(workspace);
  for (const std::size_t size : {0u, 1u, 1023u, 1024u, 1025u, 5'000'000u}) {
    const std::string value = noise(size, size + 1);
    workspace.runs().save_tree(rows.run, value);
    EXPECT_EQ(*workspace.runs().tree(rows.run), value) << size;
  }
  StoredModel big = lenet();
  big.options = "big";
  big.content.assign(50'000'000, 'a');
  EXPECT_EQ(workspace.problems().model(workspace.add(big))->content, big.content);
  EXPECT_LT(std::filesystem::file_size(folder / "a.strata"), 20'000'000u);
}

TEST(Workspace, DataVersionMovesWithOwnAndForeignWrites) {
  TemporaryFolder folder;
  Workspace mine(folder / "a.strata");
  Workspace other(folder / "a.strata");
  const auto start = mine.data_version();
  EXPECT_EQ(mine.data_version(), start);
  other.settings().set("k", "v");
  const auto after_other = mine.data_version();
  EXPECT_NE(after_other, start);
  mine.settings().set("k", "w");
  EXPECT_NE(mine.data_version(), after_other);
}

TEST(Workspace, ReadOnlyReadsAndRefusesToWrite) {
  TemporaryFolder folder;
  EXPECT_THROW(Workspace(folder / "none.strata", true), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder / "none.strata"));
  { Workspace(folder / "a.strata").settings().set("k", "v"); }
  Workspace reader(folder / "a.strata", true);
  EXPECT_EQ(reader.settings().find("k"), "v");
  EXPECT_THROW(reader.settings().set("k", "w"), InputError);
}

}  // namespace
}  // namespace strato
