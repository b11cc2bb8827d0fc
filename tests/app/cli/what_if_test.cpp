// what-if: against the problem made anew, and its tables.
#include <gtest/gtest.h>

#include <sstream>

#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

std::string plan_of(const TemporaryFolder& folder, const std::string& model,
                    const std::string& batch) {
  std::string plan = (folder / (model + batch + ".json")).string();
  const CliResult made =
      run_cli({"plan", "--graph", sample_model(model), "--batch", batch, "--cluster",
               sample_cluster("tag-testbed"), "--planner", "dp-allreduce", "-o", plan});
  EXPECT_LE(made.status, 1) << made.err;
  return plan;
}

Json what_if(const std::string& plan, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"what-if", "--plan", plan, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CliResult result = run_cli(arguments);
  EXPECT_LE(result.status, 1) << result.err;
  return Json::parse(result.out, nullptr, false);
}

// The graph is changed without its file: it has to be what the importer makes of the file.
class WhatIfBatch : public testing::TestWithParam<const char*> {};

TEST_P(WhatIfBatch, IsWhatImportingWithItGives) {
  const TemporaryFolder folder;
  const std::string small = plan_of(folder, GetParam(), "16"),
                    large = plan_of(folder, GetParam(), "48");
  const Json then = what_if(small, {"batch=48"}), made = what_if(large, {});
  for (const char* figure : {"step_time_s", "samples_per_s", "efficiency", "peak_bytes"}) {
    EXPECT_EQ(then["strategy"][figure], made["before"][figure]) << figure;
    EXPECT_EQ(then["data_parallel"][figure], made["before"][figure]) << figure;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, WhatIfBatch,
                         testing::Values("lenet", "vgg19", "inception_v3", "bert_small",
                                         "transformer", "rnnlm", "resnet101"));

TEST(WhatIfCommand, CurveOverDevices) {
  const TemporaryFolder folder;
  const std::string plan = plan_of(folder, "lenet", "64");
  const Json json = what_if(plan, {"network=2", "--curve", "devices=1080ti:4", "--scaling",
                                   "1080ti=4", "--replan", "dp-allreduce"});
  const Json& points = json["curve"]["points"];
  ASSERT_EQ(points.size(), 6u);  // 1, 2, 4: strong, then weak
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool weak = i >= 3;
    EXPECT_EQ(points[i]["scaling"], weak ? "weak" : "strong");
    const Json& row = json["scaling"]["points"][i % 3][weak ? "weak" : "strong"];
    EXPECT_EQ(points[i]["strategy"], row["strategy"]) << i;
    EXPECT_EQ(points[i]["batch"], row["batch"]);
    // What it plans anew is data parallelism.
    EXPECT_EQ(points[i]["replanned"]["step_time_s"], points[i]["data_parallel"]["step_time_s"]);
  }
  EXPECT_FALSE(what_if(plan, {"--curve", "devices"})["curve"]["points"][0].contains("replanned"));
  for (const char* wrong : {"devices=k80", "devices=1080ti:x", "devices=", "gadgets"}) {
    const CliResult result = run_cli({"what-if", "--plan", plan, "--curve", wrong});
    EXPECT_EQ(result.status, 2) << wrong;
    EXPECT_NE(result.err.find("--curve"), std::string::npos) << result.err;
  }
}

TEST(WhatIfCommand, ChangesCurvesAndScaling) {
  const TemporaryFolder folder;
  const std::string plan = plan_of(folder, "lenet", "64");
  const Json json =
      what_if(plan, {"network=2", "v100=2", "--curve", "network=0.5:4:4", "--scaling", "1080ti=8"});
  EXPECT_EQ(json["change"], "network x2, 2 v100");
  EXPECT_LT(json["strategy"]["step_time_s"], json["before"]["step_time_s"]);
  const Json& points = json["curve"]["points"];
  ASSERT_EQ(points.size(), 4u);
  for (std::size_t i = 1; i < points.size(); ++i)
    EXPECT_LE(points[i]["strategy"]["step_time_s"], points[i - 1]["strategy"]["step_time_s"]);
  ASSERT_EQ(json["scaling"]["points"].size(), 4u);  // 1, 2, 4, 8
  EXPECT_EQ(json["scaling"]["points"][0]["strong"]["batch"], 64);
  EXPECT_LT(json["scaling"]["points"][0]["weak"]["batch"], 64);
  EXPECT_EQ(what_if(plan, {"bandwidth=2"})["strategy"],
            what_if(plan, {"links=2", "network=2"})["strategy"]);
  const CliResult text = run_cli({"what-if", "--plan", plan, "speed=2"});
  EXPECT_NE(text.out.find("the plan then"), std::string::npos);
  EXPECT_NE(text.out.find("device speed x2"), std::string::npos);
}

// Cells are apart by two spaces.
std::size_t cells_in(const std::string& line) {
  std::size_t cells = 0;
  for (std::size_t at = line.find_first_not_of(' '); at != std::string::npos;
       at = line.find_first_not_of(' ', line.find("  ", at)))
    ++cells;
  return cells;
}

TEST(WhatIfCommand, RowsWithAProblemAreAsLongAsOthers) {
  const TemporaryFolder folder;
  const std::string plan = plan_of(folder, "lenet", "64");
  const CliResult text = run_cli({"what-if", "--plan", plan, "--curve", "memory=0.000001:1:2"});
  EXPECT_EQ(text.status, 0) << text.err;
  std::istringstream lines(text.out.substr(text.out.find("\n\n") + 2));
  std::string line, rows;
  for (std::getline(lines, line); std::getline(lines, line); rows += line)
    EXPECT_EQ(cells_in(line), 7u) << line;
  EXPECT_NE(rows.find("give a factor of 1/1024 to 1024"), std::string::npos) << rows;
}

TEST(WhatIfCommand, OtherGpusPrecisionAndPlannedAnew) {
  const TemporaryFolder folder;
  const std::string plan = plan_of(folder, "lenet", "64"), file = (folder / "c.json").string();
  const Json json = what_if(
      plan, {"1080ti=H100-SXM5-80GB", "v100=1", "--replan", "heft", "--save-cluster", file});
  EXPECT_EQ(json["change"], "1 v100, 1080ti with H100-SXM5-80GB");
  EXPECT_EQ(json["replanned"]["planner"], "heft");
  EXPECT_LE(json["replanned"]["step_time_s"], json["data_parallel"]["step_time_s"]);
  // What is kept is what was simulated: a plan for it is as fast.
  const std::string own = (folder / "own.json").string();
  ASSERT_LE(run_cli({"plan", "--graph", sample_model("lenet"), "--batch", "64", "--cluster", file,
                     "--planner", "dp-allreduce", "-o", own})
                .status,
            1);
  EXPECT_EQ(what_if(own, {})["before"]["step_time_s"], json["data_parallel"]["step_time_s"]);
  const Json half = what_if(plan, {"precision=half"});
  EXPECT_LT(half["strategy"]["peak_bytes"], half["before"]["peak_bytes"]);
  EXPECT_EQ(half["change"], "float16");
}

TEST(WhatIfCommand, PlanningAnewIsSeenAndEndsWithTheBestSoFar) {
  const TemporaryFolder folder;
  const std::string plan = plan_of(folder, "lenet", "64");
  OnTerminal terminal(
      {"what-if", "--plan", plan, "network=2", "--replan", "mcts", "--iterations", "100000000"});
  ASSERT_TRUE(terminal.wait_for_text("mcts: ", 2));
  EXPECT_EQ(terminal.interrupt(), 0);
}

TEST(WhatIfCommand, RefusesNonsense) {
  const TemporaryFolder folder;
  const std::string plan = plan_of(folder, "lenet", "64");
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& parts) {
    more.insert(more.begin(), {"what-if", "--plan", plan});
    expect_refused(more, parts);
  };
  refused({"colour=2"}, {"colour=2", "NAME=VALUE"});
  refused({"network"}, {"network", "number"});
  refused({"network=fast"}, {"fast", "number"});
  refused({"network=0"}, {"network bandwidth", "factor"});
  refused({"speed=nan"}, {"number"});
  refused({"batch=0"}, {"batch size 0"});
  refused({"precision=int4"}, {"precision", "int4", "float16"});
  refused({"v100=H900"}, {"H900"});
  refused({"--replan", "nobody"}, {"nobody"});
  refused({"--save-cluster", plan}, {"is written and also another file"});
  refused({"--save-cluster", "/nowhere/c.json"}, {"/nowhere/c.json"});
  refused({"batch=1.5"}, {"whole number"});
  refused({"v100=0", "p100=0", "1080ti=0"}, {"none is left"});
  refused({"--curve", "colour"}, {"colour", "network"});
  refused({"--curve", "speed=2:1"}, {"2 to 1"});
  refused({"--curve", "speed=2"}, {"LOW:HIGH"});
  refused({"--scaling", "h100"}, {"h100", "v100"});
}

}  // namespace
}  // namespace strato
