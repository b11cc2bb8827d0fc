// trials: AutoDist's search on real processes of this machine, with the replay engine.
#include <gtest/gtest.h>
#include <signal.h>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

#if defined(STRATO_GLOO) && defined(STRATO_TORCH)

namespace strato {
namespace {

// Two machines of one small GPU each, and a slow network: how variables are synchronised matters.
std::string two_machines() {
  const auto machine = [](const char* name) {
    return Json{{"name", name},
                {"gpus", Json::array({{{"type", "One"}, {"count", 1}}})},
                {"fabric", {{"bandwidth_GBps", 12}, {"latency_us", 4}}},
                {"nic", {{"bandwidth_GBps", 1}, {"latency_us", 300}}}};
  };
  return Json{{"format", "stratoscope-cluster"},
              {"version", 1},
              {"name", "two"},
              {"gpu_types", Json::array({{{"name", "One"},
                                          {"memory_bytes", std::int64_t{1} << 33},
                                          {"memory_bandwidth_GBps", 100},
                                          {"peak_tflops", {{"fp32", 1}}}}})},
              {"machines", Json::array({machine("a"), machine("b")})},
              {"network", {{"latency_us", 1}}}}
      .dump();
}

class Trials : public ::testing::Test {
 protected:
  Trials() { write_file(folder / "two.json", two_machines()); }
  std::vector<std::string> trials(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"trials",           "--graph", sample_model("lenet").string(),
                                    "--batch",          "64",      "--cluster",
                                    folder / "two.json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::vector<std::string> on_workers(int count, const std::string& workspace) const {
    return trials({"--engine", "replay", "--steps", "3", "--warm-up", "1", "--iterations",
                   std::to_string(count), "--set", "trials=3", "--workspace", workspace, "--json"});
  }
  static std::size_t launches_in(const std::string& workspace) {
    try {
      return std::filesystem::exists(workspace) ? Workspace(workspace, true).launches().all().size()
                                                : 0;
    } catch (const InputError&) {
      return 0;  // it is just being made
    }
  }
  TemporaryFolder folder;
};

// The third of a trial-driven search's promises: it goes on after it was killed.
TEST_F(Trials, OnWorkersImproveAndSurviveBeingKilled) {
  const std::string workspace = folder / "a.strata";
  const auto command = on_workers(14, workspace);
  const pid_t child = start_cli(command);
  ASSERT_TRUE(wait_until([&] { return launches_in(workspace) >= 3; }));
  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), 128 + SIGKILL);
  const std::size_t before = launches_in(workspace);
  const Json json = json_of(run_cli(command));
  EXPECT_EQ(json["known"].get<std::size_t>(), before);
  EXPECT_EQ(json["trials"].size(), launches_in(workspace));
  EXPECT_GE(json["trials"].size(), 14U);
  EXPECT_LT(json["best_s"].get<double>(), json["start_s"].get<double>());
  EXPECT_FALSE(json["curves"].empty());
  const Workspace stored(workspace, true);
  ASSERT_EQ(stored.runs().all().size(), 1U);  // it stands for the one that was killed, too
  EXPECT_EQ(stored.runs().all()[0].state, RunState::Finished);
  EXPECT_TRUE(
      stored.settings().find("run/" + std::to_string(stored.runs().all()[0].id) + "/curves"));
  const CliResult resumed = run_cli(
      {"runs", "resume", std::to_string(stored.runs().all()[0].id), "--workspace", workspace});
  EXPECT_EQ(resumed.status, 2);
}

// What was run with another learning rate, or replayed from other costs, is not known.
TEST_F(Trials, AreKnownOnlyAsTheyWereRun) {
  const std::string workspace = folder / "a.strata";
  const auto known = [&](const std::vector<std::string>& more) {
    auto command = on_workers(4, workspace);
    command.insert(command.end(), more.begin(), more.end());
    return json_of(run_cli(command))["known"].get<std::size_t>();
  };
  EXPECT_EQ(known({}), 0U);
  EXPECT_GE(known({}), 4U);
  EXPECT_EQ(known({"--learning-rate", "0.5"}), 0U);
  EXPECT_GE(known({"--learning-rate", "0.5"}), 4U);
  EXPECT_EQ(known({"--learning-rate", "0.25"}), 0U);
  write_file(folder / "slow.json", Json{{"format", "stratoscope-calibration"},
                                        {"version", 1},
                                        {"name", "slow"},
                                        {"source", "a test"},
                                        {"transfer_scale", 0.5}}
                                       .dump());
  EXPECT_EQ(known({"--calibration", folder / "slow.json"}), 0U);
  EXPECT_GE(known({}), 4U);
}

TEST_F(Trials, ThatFailTeachAndStopNothing) {
  const std::string workspace = folder / "a.strata";
  auto command = on_workers(6, workspace);
  command.insert(command.end(), {"--device", "cuda"});
  const CliResult result = run_cli(command);
  EXPECT_EQ(result.status, 3) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_GE(json["trials"].size(), 6U);
  EXPECT_EQ(json["failed"], json["trials"].size());
  EXPECT_FALSE(json.contains("best_s"));
}

TEST_F(Trials, OnTheSimulatorFollowFromTheSeed) {
  const auto with = [&](const char* noise, const char* seed) {
    Json json = json_of(run_cli(trials({"--launcher", "simulator", "--noise", noise, "--seed", seed,
                                        "--iterations", "30", "--json"})));
    json.erase("wall_s");
    return json;
  };
  const Json first = with("0.05", "1");
  EXPECT_EQ(first, with("0.05", "1"));
  EXPECT_NE(first["trials"], with("0.05", "2")["trials"]);
  EXPECT_LE(first["best_s"].get<double>(), first["start_s"].get<double>());
}

TEST_F(Trials, WrongInputIsRefused) {
  expect_refused(trials({"--launcher", "nowhere"}), {"no launcher \"nowhere\""});
  expect_refused(trials({"--planner", "nobody"}), {"nobody"});
  expect_refused(trials({"--noise", "0.1"}), {"--noise", "simulator"});
  expect_refused(trials({"--noise", "-1", "--launcher", "simulator"}), {"--noise"});
  expect_refused(trials({"--iterations", "0"}), {"--iterations"});
  expect_refused(trials({"--set", "colour=red", "--launcher", "simulator"}), {"colour"});
  expect_refused(trials({"-o", folder / "two.json"}), {"is written and also another file"});
}

}  // namespace
}  // namespace strato

#endif
