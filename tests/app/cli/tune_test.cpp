// tune: FastT's loop on real processes of this machine, with the replay engine.
#include <gtest/gtest.h>

#include "core/io/file.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

#ifdef STRATO_GLOO

namespace strato {
namespace {

// Two machines of one GPU, the second one as fast as said, or not.
std::string two_gpus(double second_tflops) {
  const auto machine = [](const char* name, const char* gpu) {
    return Json{{"name", name},
                {"gpus", Json::array({{{"type", gpu}, {"count", 1}}})},
                {"fabric", {{"bandwidth_GBps", 12}, {"latency_us", 4}}},
                {"nic", {{"bandwidth_GBps", 1}, {"latency_us", 30}}}};
  };
  const auto gpu = [](const char* name, double tflops) {
    return Json{{"name", name},
                {"memory_bytes", std::int64_t{1} << 33},
                {"memory_bandwidth_GBps", 100 * tflops},
                {"peak_tflops", {{"fp32", tflops}}}};
  };
  return Json{{"format", "stratoscope-cluster"},
              {"version", 1},
              {"name", "two"},
              {"gpu_types", Json::array({gpu("One", 0.04), gpu("Two", second_tflops)})},
              {"machines", Json::array({machine("a", "One"), machine("b", "Two")})},
              {"network", {{"latency_us", 1}}}}
      .dump();
}

class Tune : public ::testing::Test {
 protected:
  Tune() {
    write_file(folder / "said.json", two_gpus(0.04));
    write_file(folder / "truth.json", two_gpus(0.002));
  }
  std::vector<std::string> tune(const std::vector<std::string>& more,
                                const std::string& engine = "replay") const {
    std::vector<std::string> all = {"tune", "--graph",   sample_model("lenet").string(), "--batch",
                                    "256",  "--cluster", folder / "said.json",           "--engine",
                                    engine};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  TemporaryFolder folder;
};

TEST_F(Tune, FindsOutOnRealProcessesThatAGpuIsSlowerThanSaid) {
  const std::string workspace = folder / "a.strata", plan = folder / "plan.json",
                    profile = folder / "profile.json";
  const Json json = json_of(run_cli(
      tune({"--steps", "3", "--rounds", "4", "--json", "--replay-cluster", folder / "truth.json",
            "--workspace", workspace, "-o", plan, "--profile-out", profile})));
  const Json& rounds = json["rounds"];
  ASSERT_GE(rounds.size(), 2u);
  EXPECT_EQ(rounds[0]["planner"], "dp-allreduce");
  EXPECT_EQ(rounds[0]["verdict"], "kept");
  EXPECT_EQ(rounds[1]["planner"], "fastt");
  EXPECT_GT(rounds[0]["error"].get<double>(), 0.5);
  EXPECT_GT(rounds[0]["cost_change"].get<double>(), 0.5);
  EXPECT_LT(json["best_s"].get<double>(), 0.5 * json["start_s"].get<double>());
  EXPECT_GT(json["gain"].get<double>(), 0.5);
  EXPECT_FALSE(Json::parse(read_file(profile))["ops"].empty());
  const Workspace stored(workspace, true);
  ASSERT_EQ(stored.launches().all().size(), rounds.size());
  EXPECT_EQ(stored.launches().all()[0].state, LaunchState::Finished);
  const CliResult again = run_cli(
      {"launch", "--plan", plan, "--engine", "replay", "--steps", "2", "--profile", profile});
  EXPECT_EQ(again.status, 0) << again.err;
}

TEST_F(Tune, SaysALineARoundAndWhatItCameTo) {
  const CliResult result = run_cli(tune({"--rounds", "1", "--planner", "dp-ps"}));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("round 0  dp-allreduce"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("kept"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("all rounds were used after 1 round and"), std::string::npos)
      << result.out;
}

TEST_F(Tune, CtrlCKeepsTheBestSoFar) {
  const std::string plan = folder / "plan.json";
  OnTerminal terminal(tune({"--steps", "20", "--rounds", "100", "--stable", "0", "-o", plan}));
  ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(plan); }));
  EXPECT_EQ(terminal.interrupt(), 0);
  EXPECT_TRUE(std::filesystem::exists(plan));
}

TEST_F(Tune, RoundsThatFailAreToldAndStored) {
  const std::string workspace = folder / "a.strata";
  const CliResult result = run_cli(tune({"--rounds", "2", "--json", "--workspace", workspace,
                                         "--job", folder / "jobs", "--device", "cuda"}));
  EXPECT_EQ(result.status, 3) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["rounds"].size(), 2u);
  for (const Json& round : json["rounds"]) {
    EXPECT_EQ(round["verdict"], "failed");
    EXPECT_NE(round["problem"].get<std::string>().find("rank "), std::string::npos);
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "jobs/round-1/log-0.txt"));
  const Workspace stored(workspace, true);
  ASSERT_EQ(stored.launches().all().size(), 2u);
  EXPECT_EQ(stored.launches().all()[1].state, LaunchState::Failed);
}

TEST_F(Tune, NothingThatFitsIsInfeasible) {
  std::string tiny = two_gpus(0.04);
  const std::string memory = std::to_string(std::int64_t{1} << 33);
  for (std::size_t at = tiny.find(memory); at != std::string::npos; at = tiny.find(memory))
    tiny.replace(at, memory.size(), "1000");
  write_file(folder / "said.json", tiny);
  const CliResult result = run_cli(tune({}));
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.out.find("no strategy is left to run"), std::string::npos) << result.out;
}

TEST_F(Tune, WrongInputIsRefused) {
  expect_refused(tune({"--launcher", "nowhere"}), {"no launcher \"nowhere\"", "local"});
  expect_refused(tune({"--planner", "nobody"}), {"nobody"});
  expect_refused(tune({}, "abacus"), {"--engine", "abacus", "replay"});
  expect_refused(tune({"--launcher-set", "partition"}), {"--launcher-set", "has no value"});
  expect_refused(tune({"--rounds", "0"}), {"--rounds"});
  expect_refused(tune({"--rounds", "-1"}), {"--rounds"});
  expect_refused(tune({"--stable", "2"}), {"--stable"});
  expect_refused(tune({"--timeout", "soon"}), {"--timeout"});
  expect_refused(tune({"-o", folder / "said.json"}), {"is written and also another file"});
  expect_refused(tune({"-o", folder / "x", "--profile-out", folder / "x"}),
                 {"is written and also another file"});
  expect_refused(tune({"--replay-cluster", sample_cluster("tag-testbed").string()}),
                 {"--replay-cluster", "has not the devices of two"});
  expect_refused(tune({"--replay-cluster", folder / "truth.json"}, "torch"),
                 {"--replay-cluster", "is of no use with the engine torch"});
  expect_refused(tune({"--profile", folder / "missing"}), {"missing"});
}

}  // namespace
}  // namespace strato

#endif
