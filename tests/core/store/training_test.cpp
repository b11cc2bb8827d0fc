// Trainings and their loss curves in a workspace.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/store/workspace.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

StoredTraining training() { return {0, "tag", R"({"seed":1})", "/weights/tag.bin", ""}; }

TEST(Training, CurvesComeBackInOrderOfSteps) {
  TemporaryFolder folder;
  TrainingRow first = 0, second = 0;
  {
    Workspace workspace(folder / "a.strata");
    first = workspace.add(training());
    second = workspace.add(training());
    workspace.trainings().add_loss(first, {20, 3.5, 3.75, 2});
    workspace.trainings().add_loss(first, {10, 4.5, std::nullopt, 1});
    workspace.trainings().add_loss(second, {10, 5, std::nullopt, 1});
  }
  const Workspace workspace(folder / "a.strata", true);
  ASSERT_EQ(workspace.trainings().all().size(), 2u);
  const StoredTraining read = workspace.trainings().all().front();
  EXPECT_EQ(read.id, first);
  EXPECT_EQ(read.planner, "tag");
  EXPECT_EQ(read.options, training().options);
  EXPECT_EQ(read.weights, "/weights/tag.bin");
  EXPECT_FALSE(read.created.empty());
  const std::vector<LossPoint> losses = workspace.trainings().losses(first);
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].step, 10);
  EXPECT_FALSE(losses[0].held_out_loss);
  EXPECT_EQ(losses[1].loss, 3.5);
  EXPECT_EQ(losses[1].held_out_loss, 3.75);
  EXPECT_EQ(losses[1].elapsed_seconds, 2);
  EXPECT_EQ(workspace.trainings().losses(second).size(), 1u);
  EXPECT_TRUE(workspace.trainings().losses(99).empty());
}

TEST(Training, AStepDoneAgainReplacesWhatItHad) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  const TrainingRow row = workspace.add(training());
  workspace.trainings().add_loss(row, {10, 4, 4.5, 1});
  workspace.trainings().add_loss(row, {10, 3, std::nullopt, 2});
  ASSERT_EQ(workspace.trainings().losses(row).size(), 1u);
  EXPECT_EQ(workspace.trainings().losses(row)[0].loss, 3);
  EXPECT_FALSE(workspace.trainings().losses(row)[0].held_out_loss);
}

TEST(Training, ALossBelongsToATraining) {
  TemporaryFolder folder;
  Workspace workspace(folder / "a.strata");
  EXPECT_THROW(workspace.trainings().add_loss(7, {1, 1, std::nullopt, 1}), InputError);
}

}  // namespace
}  // namespace strato
