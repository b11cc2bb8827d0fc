// Launches in the workspace: kept with their strategy, large results unharmed.
#include <gtest/gtest.h>

#include "core/base/error.h"
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
  ASSERT_EQ(reader.launches().size(), 2u);
  EXPECT_TRUE(reader.launches()[0].result.empty());
  const StoredLaunch read = *reader.launch(row);
  EXPECT_EQ(read.strategy, launch.strategy);
  EXPECT_EQ(read.launcher, "local");
  EXPECT_EQ(read.options, launch.options);
  EXPECT_EQ(read.state, LaunchState::Finished);
  EXPECT_EQ(read.predicted_ns, 100);
  EXPECT_EQ(read.measured_ns, 110);
  EXPECT_TRUE(read.result == launch.result);
  EXPECT_FALSE(read.created.empty());
  EXPECT_EQ(reader.launch(second)->note, failed.note);
  EXPECT_EQ(name_of(reader.launch(second)->state), "failed");
  EXPECT_FALSE(reader.launch(99).has_value());
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
