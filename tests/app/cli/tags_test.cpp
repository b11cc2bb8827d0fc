// Tags and notes from the command line.
#include <gtest/gtest.h>

#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

class CliTags : public ::testing::Test {
 protected:
  CliTags() {
    Workspace workspace(folder_ / "w.strata");
    StoredRun run;
    run.model = workspace.add(StoredModel{0, "lenet", "", "{}", digest_of("m"), "content"});
    run.cluster = workspace.add(StoredCluster{0, "gdp", "{}", digest_of("c")});
    run.planner = "mcts";
    run.options = "{}";
    workspace.add(run);
  }
  std::vector<std::string> tags(std::vector<std::string> arguments, bool json = true) {
    arguments.insert(arguments.begin(), "tags");
    arguments.insert(arguments.end(), {"--workspace", (folder_ / "w.strata").string()});
    if (json) arguments.push_back("--json");
    return arguments;
  }

  TemporaryFolder folder_;
};

TEST_F(CliTags, AreSetAddedRemovedAndFound) {
  EXPECT_EQ(json_of(run_cli(tags({})))["annotations"].size(), 0u);
  EXPECT_EQ(json_of(run_cli(tags({"set", "run", "1", "slow,first", "#Slow"})))["tags"],
            Json({"first", "slow"}));
  json_of(run_cli(tags({"add", "model", "1", "slow"})));
  EXPECT_EQ(json_of(run_cli(tags({"note", "run", "1", "two", "words"})))["note"], "two words");
  EXPECT_EQ(json_of(run_cli(tags({"list", "--tag", "SLOW"})))["annotations"].size(), 2u);
  const Json found = json_of(run_cli(tags({"list", "--tag", "first"})))["annotations"];
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]["name"], "mcts #1");
  EXPECT_EQ(found[0]["note"], "two words");
  EXPECT_EQ(json_of(run_cli(tags({"list", "--tag", "slo"})))["annotations"].size(), 0u);
  const CliResult text = run_cli(tags({}, false));
  EXPECT_NE(text.out.find("first slow"), std::string::npos);
  EXPECT_EQ(json_of(run_cli(tags({"remove", "run", "1", "SLOW"})))["tags"], Json({"first"}));
  json_of(run_cli(tags({"set", "run", "1"})));
  json_of(run_cli(tags({"note", "run", "1"})));
  EXPECT_EQ(json_of(run_cli(tags({})))["annotations"].size(), 1u);
}

TEST_F(CliTags, AreRefusedByName) {
  expect_refused(tags({"set", "run", "7", "x"}, false), {"has no run 7"});
  expect_refused(tags({"set", "plan", "1", "x"}, false),
                 {"plan 1", "model, cluster, run or strategy"});
  expect_refused(tags({"set", "run", "one", "x"}, false), {"run one"});
  expect_refused(tags({"set", "run", "1", std::string(80, 'x')}, false), {"longer than 60 bytes"});
  expect_refused({"tags", "--workspace", "/nowhere.strata"}, {"/nowhere.strata: is not there"});
}

}  // namespace
}  // namespace strato
