// Workspaces and plans of the version before core was rebuilt open, and their searches go on to the
// very step times that that version went on to (tests/data/README.md).
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/paths.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

fs::path old_file(const char* name) {
  return fs::path(kSourceFolder) / "tests/data/first_round" / name;
}

// A copy that may be written, with the models beside it: old files name models by paths that are
// gone.
class OldFiles : public ::testing::Test {
 protected:
  OldFiles() {
    for (const char* name : {"old.strata", "mcts.plan.json", "tag.plan.json", "autodist.plan.json"})
      fs::copy_file(old_file(name), folder_.path() / name);
    for (const char* model : {"vgg19", "lenet"})
      fs::copy_file(sample_model(model), folder_.path() / (std::string(model) + ".onnx"));
  }
  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  Json simulated(const char* plan) const {
    return json_of(run_cli({"simulate", "--plan", file(plan), "--json"}));
  }
  double continued(const char* run) const {
    return json_of(run_cli({"tree", "--workspace", file("old.strata"), "--run", run, "continue",
                            "--iterations", "160", "--json"}))["step_time_s"];
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(OldFiles, PlansTakeAsLongAsTheyDid) {
  EXPECT_DOUBLE_EQ(simulated("mcts.plan.json")["step_time_s"], 0.11549677700000001);
  EXPECT_DOUBLE_EQ(simulated("tag.plan.json")["step_time_s"], 0.104387595);
  EXPECT_DOUBLE_EQ(simulated("autodist.plan.json")["step_time_s"], 0.000462266);
}

TEST_F(OldFiles, RunsAreListed) {
  const Json runs = json_of(run_cli({"runs", "list", "--workspace", file("old.strata"), "--json"}));
  ASSERT_EQ(runs["runs"].size(), 5u);
}

TEST_F(OldFiles, ASearchGoesOnToTheSameResult) { EXPECT_DOUBLE_EQ(continued("1"), 0.115477883); }

TEST_F(OldFiles, ASearchWithAPinGoesOnToTheSameResult) {
  EXPECT_DOUBLE_EQ(continued("3"), 0.177738538);
}

TEST_F(OldFiles, ASearchAsInThePaperGoesOnToTheSameResult) {
  EXPECT_DOUBLE_EQ(continued("4"), 0.132975503);
}

#ifdef STRATO_TORCH
// Its priors are floating-point sums, which another processor may add in another order.
TEST_F(OldFiles, ASearchWithANetworkGoesOn) { EXPECT_LE(continued("2"), 0.104387595); }
#endif

}  // namespace
}  // namespace strato
