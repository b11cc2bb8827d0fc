// Launches in the workspace: kept with their strategy, large results unharmed.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/store/sqlite/database_file.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

StrategyRow add_strategy(Workspace& workspace) {
  StoredModel model;
  model.name = "lenet";
  model.options = "{}";
  model.content = "graph";
  StoredCluster cluster;
  cluster.name = "two";
  cluster.json = "{}";
  StoredStrategy strategy;
  strategy.model = workspace.add(model);
  strategy.cluster = workspace.add(cluster);
  strategy.json = "{}";
  return workspace.add(strategy);
}

TEST(StoredLaunch, ComesBackAsItWasAlsoFromAnotherProgram) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  StoredLaunch launch;
  launch.strategy = add_strategy(workspace);
  launch.launcher = "local";
  launch.options = R"({"steps": 5})";
  launch.predicted_ns = 100;
  launch.measured_ns = 110;
  for (int i = 0; i < 100'000; ++i) launch.result += std::to_string(i) + '\0';
  const LaunchRow row = workspace.add(launch);
  StoredLaunch failed = launch;
  failed.state = LaunchState::Failed;
  failed.note = "rank 1: \"no\" memory\n";
  failed.result.clear();
  const LaunchRow second = workspace.add(failed);

  const Workspace reader(folder / "a.strata", true);
  ASSERT_EQ(reader.launches().all().size(), 2u);
  EXPECT_TRUE(reader.launches().all()[0].result.empty());
  const StoredLaunch read = *reader.launches().find(row);
  EXPECT_EQ(read.strategy, launch.strategy);
  EXPECT_EQ(read.launcher, "local");
  EXPECT_EQ(read.options, launch.options);
  EXPECT_EQ(read.state, LaunchState::Finished);
  EXPECT_EQ(read.predicted_ns, 100);
  EXPECT_EQ(read.measured_ns, 110);
  EXPECT_TRUE(read.result == launch.result);
  EXPECT_FALSE(read.created.empty());
  EXPECT_EQ(reader.launches().find(second)->note, failed.note);
  EXPECT_EQ(name_of(reader.launches().find(second)->state), "failed");
  EXPECT_FALSE(reader.launches().find(99).has_value());
}

TEST(StoredLaunch, IsChangedWhenItsJobEnds) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  StoredLaunch launch;
  launch.strategy = add_strategy(workspace);
  launch.launcher = "slurm";
  launch.state = LaunchState::Running;
  launch.job = "slurm:4711";
  launch.folder = "/shared/\"jobs\"/1";
  launch.id = workspace.add(launch);
  EXPECT_EQ(workspace.launches().all().at(0).job, "slurm:4711");
  EXPECT_EQ(workspace.launches().all()[0].folder, launch.folder);
  EXPECT_EQ(name_of(workspace.launches().find(launch.id)->state), "running");
  launch.state = LaunchState::Finished;
  launch.measured_ns = 7;
  launch.result = std::string(5000, 'r');
  workspace.update(launch);
  const StoredLaunch read = *Workspace(folder / "a.strata", true).launches().find(launch.id);
  EXPECT_EQ(read.state, LaunchState::Finished);
  EXPECT_EQ(read.measured_ns, 7);
  EXPECT_EQ(read.result, launch.result);
  launch.id = 99;
  EXPECT_THROW(workspace.update(launch), InputError);
}

TEST(StoredLaunch, GoesAndComesBackAsItWas) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  StoredLaunch launch;
  launch.strategy = add_strategy(workspace);
  workspace.add(launch);
  const LaunchRow second = workspace.add(launch);
  const StoredLaunch kept = *workspace.launches().find(second);
  workspace.launches().remove(second);
  EXPECT_EQ(workspace.launches().all().size(), 1u);
  EXPECT_EQ(workspace.add(kept), second);
  EXPECT_EQ(workspace.launches().find(second)->created, kept.created);
  EXPECT_THROW(workspace.add(kept), InputError);
}

// The third version of the file, which knew no jobs.
TEST(StoredLaunch, OfAnOlderFileHasNoJob) {
  TemporaryFolder folder;
  {
    const auto database =
        store::open_database(folder / "a.strata", false, store::migrations().first(3));
    database->exec(
        "INSERT INTO value VALUES ('01', 0, 2, '{}');"
        "INSERT INTO model VALUES (1, 'm', '', '{}', '0', '01');"
        "INSERT INTO cluster VALUES (1, 'c', '0', '01');"
        "INSERT INTO strategy VALUES (1, 1, 1, NULL, NULL, 0, 's', '0', '01', 1, 1, '');"
        "INSERT INTO launch VALUES (1, 1, 'local', '{}', 0, 1, 2, '', '2026-01-01', 0, 1, 'R');");
  }
  for (const bool read_only : {true, false}) {
    const Workspace workspace(folder / "a.strata", read_only);
    const StoredLaunch launch = *workspace.launches().find(1);
    EXPECT_EQ(launch.result, "R");
    EXPECT_EQ(launch.measured_ns, 2);
    EXPECT_EQ(launch.job + launch.folder, "");
  }
}

TEST(StoredLaunch, NeedsItsStrategy) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  StoredLaunch launch;
  launch.strategy = 7;
  EXPECT_THROW(workspace.add(launch), InputError);
}

}  // namespace
}  // namespace strato
