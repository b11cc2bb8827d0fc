// Training from the command line, on LeNet and a small network.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/free_port.h"

#ifdef STRATO_TORCH
namespace strato {
namespace {
namespace fs = std::filesystem;

std::vector<std::string> train_arguments(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"train", "tag", "lenet=64", "--clusters", "3"};
  for (const char* option :
       {"iterations=16", "groups=4", "searches=2", "updates=4", "held-out=2", "width=8", "heads=2",
        "layers=2", "minibatch=4", "report=2", "depths=2", "save=0.2"}) {
    arguments.insert(arguments.end(), {"--set", option});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(TrainCommand, WritesWeightsThatAPlanUsesAndStoresTheCurve) {
  TemporaryFolder folder;
  const Json json = json_of(run_cli(train_arguments(
      {"--steps", "8", "-o", folder / "w.bin", "--workspace", folder / "a.strata", "--json"})));
  EXPECT_EQ(json["steps"], 8);
  EXPECT_FALSE(json["stopped"].get<bool>());
  EXPECT_GT(json["examples"].get<int>(), 0);
  const Workspace workspace(folder / "a.strata");
  ASSERT_EQ(workspace.trainings().all().size(), 1u);
  const StoredTraining training = workspace.trainings().all()[0];
  EXPECT_EQ(training.planner, "tag");
  EXPECT_EQ(Json::parse(training.options)["models"][0]["name"], "lenet");
  const auto losses = workspace.trainings().losses(training.id);
  ASSERT_EQ(losses.size(), 4u);
  EXPECT_EQ(losses.back().step, 8);
  EXPECT_NEAR(losses.back().loss, json["loss"].get<double>(), 1e-12);
  ASSERT_TRUE(losses.back().held_out_loss);
  const Json plan =
      json_of(run_cli({"plan", "--graph", sample_model("lenet"), "--batch", "64", "--groups", "4",
                       "--cluster", sample_cluster("tag-2x1080ti"), "--planner", "tag", "--set",
                       "weights=" + (folder / "w.bin").string(), "--iterations", "30", "--json"}));
  EXPECT_EQ(plan["planner"], "tag");
}

TEST(TrainCommand, GoesOnFromTheCheckpointToTheSameWeights) {
  TemporaryFolder folder;
  json_of(run_cli(train_arguments({"--steps", "8", "-o", folder / "whole.bin", "--json"})));
  const auto part = [&](const char* steps) {
    return json_of(run_cli(train_arguments(
        {"--steps", steps, "--checkpoint", folder / "c", "-o", folder / "parts.bin", "--json"})));
  };
  part("8");
  const std::string once = read_file(folder / "parts.bin");
  EXPECT_EQ(once, read_file(folder / "whole.bin"));
  EXPECT_EQ(part("12")["steps"], 12);
  EXPECT_NE(once, read_file(folder / "parts.bin"));
}

TEST(TrainCommand, CtrlCKeepsWeightsAndSaysHowToGoOn) {
  TemporaryFolder folder;
  OnTerminal terminal(train_arguments(
      {"--steps", "100000000", "--checkpoint", folder / "c", "-o", folder / "w.bin"}));
  ASSERT_TRUE(terminal.wait_for_text("held out", 2));
  EXPECT_EQ(terminal.interrupt(), 0);
  EXPECT_TRUE(fs::exists(folder / "c"));
  EXPECT_TRUE(fs::exists(folder / "w.bin"));
  const CliResult budget = run_cli(train_arguments(
      {"--budget", "1ms", "--checkpoint", folder / "c", "-o", folder / "w.bin", "--json"}));
  EXPECT_GT(json_of(budget)["steps"].get<int>(), 3) << "it begins where the other one stopped";
}

TEST(TrainCommand, AKilledProcessEndsTheOthersWhichGoOnTogetherLater) {
  TemporaryFolder folder;
  std::string master = free_master(), steps = "100000000";
  const auto rank = [&](const char* number) {
    return train_arguments({"--steps", steps, "--checkpoint", folder / "c", "--rank", number,
                            "--processes", "2", "--master", master, "--set", "patience=3",
                            "--json"});
  };
  const pid_t other = start_cli(rank("1"));
  std::thread killer([&] {
    wait_until([&] { return fs::exists(folder / "c.rank1"); });
    const auto first_save = fs::last_write_time(folder / "c.rank1");
    wait_until([&] { return fs::last_write_time(folder / "c.rank1") != first_save; });
    ::kill(other, SIGKILL);
    wait_for(other);
  });
  const CliResult first = run_cli(rank("0"));
  killer.join();
  EXPECT_EQ(first.status, 2);
  EXPECT_NE(first.err.find("is lost"), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("checkpoint is kept"), std::string::npos) << first.err;
  EXPECT_TRUE(fs::exists(folder / "c"));

  // When there are as many steps already, none is made.
  const auto again = [&] {
    master = free_master();
    const pid_t second = start_cli(rank("1"));
    const auto made = json_of(run_cli(rank("0")))["steps"].get<int>();
    wait_for(second);
    return made;
  };
  steps = "1";
  const int there = again();
  EXPECT_GT(there, 1) << "it begins where the other one ended";
  steps = std::to_string(there + 3);
  EXPECT_EQ(again(), there + 3);
}

TEST(TrainCommand, RefusesWhatItCannotDo) {
  TemporaryFolder folder;
  const std::string weights = folder / "w.bin";
  expect_refused({"train", "mcts", "lenet=8", "-o", weights}, {"learns nothing"});
  expect_refused({"train", "tga", "lenet=8", "-o", weights}, {"tga"});
  expect_refused({"train", "tag", "lenet=8"}, {"-o"});
  expect_refused({"train", "tag", "lenet", "-o", weights}, {"with the model: lenet=32"});
  expect_refused({"train", "tag", "lenet=many", "-o", weights}, {"no batch"});
  expect_refused({"train", "tag", "no_such_model=8", "-o", weights}, {"is not there"});
  expect_refused({"train", "tag", "lenet=8", "--without", "vgg19", "-o", weights}, {"lenet"});
  expect_refused({"train", "tag", "lenet=8", "--without", "lenet", "-o", weights},
                 {"no model is left"});
  expect_refused({"train", "tag", "lenet=8", "-o", weights, "--set", "targets=luck"}, {"luck"});
  expect_refused({"train", "tag", "lenet=8", "-o", weights, "--processes", "2"}, {"host:port"});
  expect_refused({"train", "tag", "lenet=8", "-o", folder / "none" / "w.bin"}, {"none"});
  write_file(folder / "c", "not a checkpoint");
  expect_refused(train_arguments({"--steps", "2", "--checkpoint", folder / "c"}),
                 {"is no checkpoint"});
  EXPECT_FALSE(fs::exists(weights));
}

}  // namespace
}  // namespace strato
#endif
