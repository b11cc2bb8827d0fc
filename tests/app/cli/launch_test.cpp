// launch: a plan on real processes of this machine, with the replay engine.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "core/io/file.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

#ifdef STRATO_GLOO

namespace strato {
namespace {

class Launch : public ::testing::Test {
 protected:
  Launch() {
    const CliResult planned =
        run_cli({"plan", "--graph", sample_model("lenet").string(), "--batch", "32", "--cluster",
                 sample_cluster("tag-2x1080ti").string(), "--planner", "dp-allreduce", "-o", plan});
    EXPECT_EQ(planned.status, 0) << planned.err;
  }
  std::vector<std::string> launch(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"launch", "--plan", plan, "--engine", "replay"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  TemporaryFolder folder;
  std::string plan = folder / "plan.json";
};

TEST_F(Launch, TellsMeasuredBesidePredictedAndStoresIt) {
  const std::string workspace = folder / "a.strata";
  const Json json = json_of(run_cli(launch({"--steps", "4", "--json", "--workspace", workspace,
                                            "--trace", (folder / "t.json").string()})));
  EXPECT_EQ(json["steps"], 4);
  EXPECT_EQ(json["step_times_s"].size(), 4u);
  EXPECT_GT(json["measured_s"].get<double>(), 0);
  EXPECT_EQ(json["devices"].size(), 2u);
  EXPECT_FALSE(json["ops"].empty());
  EXPECT_FALSE(json["links"].empty());
  EXPECT_FALSE(read_file(folder / "t.json").empty());
  const Workspace stored(workspace, true);
  ASSERT_EQ(stored.launches().all().size(), 1u);
  EXPECT_EQ(stored.launches().all()[0].launcher, "local");
  EXPECT_EQ(stored.launches().all()[0].state, LaunchState::Finished);
  EXPECT_FALSE(stored.launches().find(1)->result.empty());
}

TEST_F(Launch, KeepsItsFilesInTheFolderThatItWasGiven) {
  const CliResult result = run_cli(launch({"--steps", "2", "--job", (folder / "job").string(),
                                           "--keep-parameters", (folder / "kept").string()}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("measured"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "job/log-1.txt"));
  EXPECT_TRUE(std::filesystem::exists(folder / "kept/index.json"));
  EXPECT_TRUE(std::filesystem::exists(folder / "kept/0.npy"));
}

// Not when the training has run for days.
TEST_F(Launch, WhereParametersAreToGoIsCheckedFirst) {
  const auto keep = [&](const std::filesystem::path& at) {
    return launch({"--keep-parameters", at.string()});
  };
  const std::filesystem::path none = folder / "none";
  for (const char* name : {"out.pt", "out.safetensors", "out"})
    expect_refused(keep(none / name), {"none", "cannot be written"});
  std::filesystem::create_directory(folder / "a.pt");
  expect_refused(keep(folder / "a.pt"), {"a.pt", "is a folder"});
  write_file(folder / "file", "mine");
  expect_refused(keep(folder / "file"), {"file", "neither .pt nor .safetensors"});
  expect_refused(keep(folder / "file/below/"), {"cannot be written"});
  EXPECT_EQ(read_file(folder / "file"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_F(Launch, WhatAFinishedJobLeftIsNeverLost) {
  std::filesystem::create_symlink("/dev/full", folder / "out.safetensors");  // the disk is full
  std::filesystem::create_directory(folder / "temporary");
  ::setenv("TMPDIR", (folder / "temporary").c_str(), 1);
  const CliResult result =
      run_cli(launch({"--steps", "2", "--keep-parameters", (folder / "out.safetensors").string()}));
  ::unsetenv("TMPDIR");
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("what it left is in "), std::string::npos) << result.err;
  const std::filesystem::directory_iterator left(folder / "temporary");
  ASSERT_NE(left, std::filesystem::directory_iterator());
  EXPECT_TRUE(std::filesystem::exists(left->path() / "checkpoint-2/index.json"));
}

TEST_F(Launch, DataIsNotReadFromWhereTheJobsOwnGoes) {
  const std::filesystem::path job = folder / "job";
  std::filesystem::create_directories(job / "weights");
  std::filesystem::create_directories(job / "inputs");
  std::filesystem::create_directory_symlink(job, folder / "link");
  for (const std::filesystem::path& weights : {job / "weights", folder / "link/weights/../weights"})
    expect_refused(launch({"--job", job.string(), "--weights", weights.string()}),
                   {"--weights", "lies where the job's own weights go"});
  for (const std::string given : {"", "x="})
    expect_refused(launch({"--job", job.string(), "--inputs", given + (job / "inputs").string()}),
                   {"--inputs", "lies where the job's own inputs go"});
}

TEST_F(Launch, AFailureOfARankIsStatus3AndKeepsTheLogs) {
  const CliResult result = run_cli(launch({"--resume", "checkpoint-9"}));
  EXPECT_EQ(result.status, 3);
  EXPECT_NE(result.err.find("the job failed: rank "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("logs are in "), std::string::npos) << result.err;
}

TEST_F(Launch, CtrlCCancelsIt) {
  OnTerminal terminal(launch({"--steps", "1000000"}));
  EXPECT_TRUE(terminal.wait_for_text("step ", 2));
  EXPECT_EQ(terminal.interrupt(), 3);
}

TEST_F(Launch, WrongInputIsRefused) {
  expect_refused(launch({"--launcher", "nowhere"}), {"no launcher \"nowhere\"", "local"});
  expect_refused(launch({"--set", "partition=gpu"}),
                 {"partition", "is no setting of the launcher local"});
  expect_refused(launch({"--set", "partition"}), {"has no value"});
  expect_refused(launch({"--attach", "slurm:1"}), {"--attach", "needs the job and its folder"});
  const std::string job = (folder / "job").string();
  EXPECT_EQ(run_cli(launch({"--steps", "1", "--job", job})).status, 0);
  expect_refused(launch({"--attach", "slurm:1", "--job", job}), {"is not the folder of slurm:1"});
  expect_refused(launch({"--attach", "slurm:1", "--job", job, "--keep-parameters", folder / "out"}),
                 {"--keep-parameters", "the job was launched without"});
  expect_refused(launch({"--attach", "local:1", "--job", job}), {"cannot be attached to"});
}

}  // namespace
}  // namespace strato

#endif
