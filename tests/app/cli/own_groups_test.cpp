// A planner whose strategies divide the op groups (tests/op_by_op): its plans, runs and reports.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/io/json.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/paths.h"

namespace strato {
namespace {

class OwnGroups : public ::testing::Test {
 protected:
  OwnGroups() {
    setenv("STRATOSCOPE_PLUGIN_PATH", (std::string(kBuildFolder) + "/test_plugins").c_str(), 1);
  }
  ~OwnGroups() override { unsetenv("STRATOSCOPE_PLUGIN_PATH"); }

  std::string file(const char* name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> plan(const std::string& planner, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"plan",
                                          "--graph",
                                          sample_model("lenet"),
                                          "--cluster",
                                          sample_cluster("tag-testbed"),
                                          "--batch",
                                          "64",
                                          "--groups",
                                          "6",
                                          "--planner",
                                          planner,
                                          "--iterations",
                                          "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Json json_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const CliResult result = run_cli(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.status == 0 ? Json::parse(result.out) : Json();
  }

  TemporaryFolder folder_;
};

TEST_F(OwnGroups, a_plan_is_simulated_as_it_was_planned) {
  for (const std::string planner : {"op-by-op", "op-by-op+sfb"}) {
    const Json planned = json_of(plan(planner, {"-o", file("plan.json")}));
    EXPECT_GT(planned["groups"].get<int>(), 6);
    EXPECT_EQ(planned["facts"]["stretches"], "7");
    const Json simulated = json_of({"simulate", "--plan", file("plan.json")});
    EXPECT_EQ(simulated["step_time_s"], planned["step_time_s"]) << planner;
    EXPECT_EQ(simulated["groups"], planned["groups"]);
    EXPECT_EQ(simulated["tasks"], planned["tasks"]);
    EXPECT_TRUE(simulated["unmatched"].empty());
    for (const char* format : {"dot", "chrome-trace"})
      json_of({"export", "--plan", file("plan.json"), "--format", format, "-o", file("exported")});
  }
}

TEST_F(OwnGroups, facts_are_told) {
  const CliResult result = run_cli(plan("op-by-op"));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("\nFacts\n  stretches  7\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("own op groups"), std::string::npos) << result.out;
  const CliResult without = run_cli(plan("dp-ps"));
  EXPECT_EQ(without.out.find("Facts"), std::string::npos) << without.out;
}

TEST_F(OwnGroups, a_run_is_stored_with_them) {
  const std::string workspace = file("w.strata");
  const Json planned = json_of(plan("op-by-op", {"--workspace", workspace, "--seed", "3"}));
  const Json run = json_of({"runs", "show", "1", "--workspace", workspace});
  EXPECT_EQ(run["step_time_s"], planned["step_time_s"]);
  EXPECT_NE(run["note"].get<std::string>().find("every op by itself; stretches: 7; groups: "),
            std::string::npos);
  EXPECT_EQ(run["strategy"]["groups"].size(), planned["groups"].get<std::size_t>());
  for (const Json& group : run["strategy"]["groups"]) EXPECT_FALSE(group["ops"].empty());
  EXPECT_EQ(run_cli({"runs", "show", "1", "--workspace", workspace}).status, 0);
}

TEST_F(OwnGroups, planners_with_and_without_them_compare) {
  const Json compared = json_of({"compare", "--graph", sample_model("lenet"), "--cluster",
                                 sample_cluster("tag-testbed"), "--batch", "64", "--groups", "6",
                                 "--planners", "op-by-op,dp-allreduce,mcts", "--iterations", "20"});
  ASSERT_EQ(compared["planners"].size(), 3u);
  EXPECT_EQ(compared["planners"][0]["facts"]["stretches"], "7");
  EXPECT_FALSE(compared["planners"][1].contains("facts"));
}

}  // namespace
}  // namespace strato
