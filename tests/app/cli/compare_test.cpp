// Tournaments on the command line.
#include <gtest/gtest.h>

#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"

namespace strato {
namespace {

std::vector<std::string> arguments(const std::string& graphs, const std::string& clusters,
                                   const std::string& planners,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> result = {"compare", "--graph",      graphs,   "--batch",
                                     "64",      "--cluster",    clusters, "--planners",
                                     planners,  "--iterations", "30"};
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

TEST(Compare, one_problem_has_a_row_for_each_planner) {
  const CliResult result = run_cli(arguments("lenet", "tag-2x1080ti", "dp-allreduce,mcts"));
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* word :
       {"planner", "step time", "above bound", "fullest device", "mcts", "1.00x", "lower bound"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word;
}

TEST(Compare, one_problem_as_json) {
  const Json json =
      json_of(run_cli(arguments("lenet", "tag-2x1080ti", "dp-allreduce,mcts", {"--json"})));
  EXPECT_FALSE(json.contains("problems"));
  EXPECT_EQ(json["best"], "mcts");
  ASSERT_EQ(json["planners"].size(), 2u);
  const Json& best = json["planners"][1];
  EXPECT_EQ(best["rank"], 1);
  EXPECT_EQ(json["planners"][0]["rank"], 2);
  EXPECT_NEAR(best["above_lower_bound"].get<double>(),
              best["step_time_s"].get<double>() / json["lower_bound_s"].get<double>() - 1, 1e-9);
  EXPECT_GT(best["peak_memory_bytes"].get<double>(), 0);
  EXPECT_LE(best["peak_memory_part"].get<double>(), 1);
  EXPECT_LE(best["seconds_to_best"].get<double>(), best["wall_s"].get<double>());
}

TEST(Compare, several_problems_are_ranked) {
  const std::vector<std::string> asked =
      arguments("lenet,alexnet", "tag-2x1080ti,tag-testbed", "dp-allreduce,dp-ps,mcts");
  std::vector<std::string> as_json = asked;
  as_json.push_back("--json");
  const Json json = json_of(run_cli(as_json));
  ASSERT_EQ(json["problems"].size(), 4u);
  EXPECT_EQ(json["problems"][1]["cluster"], json["problems"][3]["cluster"]);
  EXPECT_NE(json["problems"][1]["model"], json["problems"][3]["model"]);
  ASSERT_EQ(json["ranking"].size(), 3u);
  EXPECT_EQ(json["ranking"][0]["planner"], "mcts");
  EXPECT_EQ(json["ranking"][0]["wins"], 4);
  EXPECT_EQ(json["ranking"][0]["problems"], 4);
  const CliResult text = run_cli(asked);
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("mean rank"), std::string::npos);
  EXPECT_NE(text.out.find(" *"), std::string::npos) << "the best is marked";
}

TEST(Compare, results_do_not_depend_on_the_threads) {
  std::string first;
  for (const char* threads : {"1", "2"}) {
    Json json = json_of(run_cli(arguments("lenet", "tag-2x1080ti,tag-testbed", "mcts,metis",
                                          {"--json", "--threads", threads})));
    for (Json& problem : json["problems"])
      for (Json& row : problem["planners"]) {
        row.erase("wall_s");
        row.erase("seconds_to_best");
      }
    const std::string text = json["problems"].dump();
    if (first.empty()) first = text;
    EXPECT_EQ(text, first);
  }
}

TEST(Compare, a_planner_that_refuses_is_a_row_and_only_refusals_are_an_error) {
  const CliResult some =
      run_cli(arguments("lenet", "tag-2x1080ti", "dp-allreduce,mcts", {"--set", "c=0.3"}));
  EXPECT_EQ(some.status, 0) << some.err;
  EXPECT_NE(some.out.find("has no option 'c'"), std::string::npos) << some.out;
  const CliResult none =
      run_cli(arguments("lenet", "tag-2x1080ti", "dp-allreduce,dp-ps", {"--set", "c=0.3"}));
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("has no option 'c'"), std::string::npos) << none.err;
}

TEST(Compare, unknown_names_are_bad_input) {
  EXPECT_EQ(run_cli(arguments("lenet", "tag-2x1080ti", "dp-allreduce,mtcs")).status, 2);
  EXPECT_EQ(run_cli(arguments("lenet,lenett", "tag-2x1080ti", "dp-allreduce")).status, 2);
  EXPECT_EQ(run_cli(arguments("lenet", "tag-2x1080ti,", "dp-allreduce")).status, 2);
}

TEST(Compare, interrupted_prints_what_there_is) {
  OnTerminal terminal({"compare", "--graph", "lenet", "--batch", "64", "--cluster", "tag-2x1080ti",
                       "--planners", "dp-allreduce,mcts", "--iterations", "100000000", "--threads",
                       "1"});
  ASSERT_TRUE(terminal.wait_for_text("1 of 2", 1));
  EXPECT_EQ(terminal.interrupt(), 0);
}

}  // namespace
}  // namespace strato
