// Constraints on the command line: every planner keeps to them, runs go on with them.
#include <gtest/gtest.h>

#include "core/io/file.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

std::vector<std::string> constrained_plan(const std::string& planner,
                                          const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"plan",
                                        "--graph",
                                        sample_model("lenet"),
                                        "--batch",
                                        "64",
                                        "--cluster",
                                        sample_cluster("tag-2x1080ti"),
                                        "--planner",
                                        planner,
                                        "--iterations",
                                        "40"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

double busy(const Json& json, std::size_t device) { return json["devices"][device]["busy_s"]; }

TEST(CliConstraints, AreKeptByPlannersOfAllKinds) {
  for (const char* planner : {"mcts", "dp-allreduce", "metis", "heft", "celeritas", "expert"}) {
    SCOPED_TRACE(planner);
    const Json json = json_of(run_cli(
        constrained_plan(planner, {"--forbid", "1080ti-0", "--max-devices", "1", "--json"})));
    EXPECT_EQ(busy(json, 0), 0);
    EXPECT_GT(busy(json, 1), 0);
    EXPECT_TRUE(json["facts"].contains("constraints"));
  }
}

TEST(CliConstraints, GoOnWithTheRun) {
  const TemporaryFolder folder;
  const std::string file = folder / "c.json", workspace = folder / "w.strata",
                    plan = folder / "p.json";
  write_file(file, R"({"format": "stratoscope-constraints", "version": 1,
                       "forbid": [{"group": "*", "devices": ["1080ti-1"]}]})");
  const Json begun = json_of(run_cli(constrained_plan(
      "mcts", {"--constraints", file, "--workspace", workspace, "-o", plan, "--json"})));
  EXPECT_EQ(busy(begun, 1), 0);
  EXPECT_TRUE(Json::parse(read_file(plan))["result"].contains("constraints"));
  const Json gone_on = json_of(
      run_cli({"runs", "--workspace", workspace, "resume", "1", "--iterations", "40", "--json"}));
  EXPECT_EQ(busy(gone_on, 1), 0);
}

TEST(CliConstraints, AreRefusedByName) {
  expect_refused(constrained_plan("mcts", {"--pin", "nix=ps:all"}),
                 {"no op group and no op \"nix\""});
  expect_refused(constrained_plan("mcts", {"--pin", "nix"}), {"--pin nix", "GROUP=MODE:DEVICES"});
  expect_refused(constrained_plan("mcts", {"--forbid", "v100"}),
                 {"no device or device group", "v100"});
  expect_refused(constrained_plan("mcts", {"--max-devices", "0"}), {"--max-devices 0"});
  expect_refused(constrained_plan("mcts", {"--together", "one"}), {"fewer than two"});
  expect_refused(constrained_plan("dp-ps", {"--pin", "*=ps:all", "--forbid", "ps"}),
                 {"contradict", "keeps PS on all", "is not PS"});
  expect_refused(constrained_plan("mcts", {"--constraints", "/nowhere.json"}), {"/nowhere.json"});
}

}  // namespace
}  // namespace strato
