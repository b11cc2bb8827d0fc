// simulate --explain, --order and --links.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/io/json.h"
#include "core/sim/explain/critical_path.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

class ExplainCommand : public testing::Test {
 protected:
  void SetUp() override {
    plan_ = (folder_ / "plan.json").string();
    const CliResult made =
        run_cli({"plan", "--graph", sample_model("alexnet"), "--batch", "64", "--cluster",
                 sample_cluster("tag-testbed"), "--planner", "dp-allreduce", "-o", plan_});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  Json simulate(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"simulate", "--plan", plan_, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CliResult result = run_cli(arguments);
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
    return Json::parse(result.out, nullptr, false);
  }
  TemporaryFolder folder_;
  std::string plan_;
};

double sum_of(const Json& figures) {
  double sum = 0;
  for (const Json& figure : figures) sum += figure.get<double>();
  return sum;
}

TEST_F(ExplainCommand, FiguresAddUp) {
  const Json json = simulate({"--explain"});
  const double step = json["step_time_s"];
  EXPECT_LE(json["step_time_low_s"].get<double>(), step);
  EXPECT_GE(json["step_time_high_s"].get<double>(), step);
  const Json& explain = json["explain"];
  EXPECT_NEAR(sum_of(explain["critical_path"]), step, 1e-12);
  ASSERT_EQ(explain["gaps"].size(), json["devices"].size());
  for (std::size_t d = 0; d < json["devices"].size(); ++d) {
    const Json& gaps = explain["gaps"][d];
    EXPECT_EQ(gaps["device"], json["devices"][d]["name"]);
    EXPECT_NEAR(gaps["idle_s"].get<double>() + json["devices"][d]["busy_s"].get<double>(), step,
                1e-12);
    EXPECT_NEAR(sum_of(gaps["by_reason_s"]), gaps["idle_s"].get<double>(), 1e-12);
  }
  ASSERT_FALSE(explain["what_ifs"].empty());
  double last = 0;
  for (const Json& what_if : explain["what_ifs"]) {
    const double free = what_if["step_time_s_infinitely_fast"];
    EXPECT_GE(free, last);
    last = free;
  }
  ASSERT_EQ(explain["memory"].size(), 1u);
  const Json& memory = explain["memory"][0];
  EXPECT_EQ(sum_of(memory["by_role"]), memory["peak_bytes"].get<double>());
  EXPECT_TRUE(memory["advice"].empty());
  EXPECT_GT(explain["why"].get<std::string>().size(), 100u);
}

TEST_F(ExplainCommand, TheTextHasEveryPart) {
  const CliResult result = run_cli({"simulate", "--plan", plan_, "--explain"});
  for (const char* part : {"Why\n", "critical path", "longest gaps", "if faster", "the network",
                           "Memory of ", "largest", "resident"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

TEST_F(ExplainCommand, OrdersAndLinks) {
  const Json plain = simulate({});
  EXPECT_FALSE(plain.contains("explain"));
  // The plan has no priorities of its own.
  EXPECT_EQ(simulate({"--order", "fifo"})["step_time_s"], plain["step_time_s"]);
  const Json ranked = simulate({"--order", "rank", "--explain"});
  EXPECT_NEAR(sum_of(ranked["explain"]["critical_path"]), ranked["step_time_s"].get<double>(),
              1e-12);
  const Json fair = simulate({"--links", "fair", "--explain"});
  EXPECT_EQ(fair["links"], "fair");
  EXPECT_NEAR(sum_of(fair["explain"]["critical_path"]), fair["step_time_s"].get<double>(), 1e-12);
  EXPECT_EQ(run_cli({"simulate", "--plan", plan_, "--order", "random"}).status, 2);
  EXPECT_EQ(run_cli({"simulate", "--plan", plan_, "--links", "none"}).status, 2);
}

}  // namespace
}  // namespace strato
