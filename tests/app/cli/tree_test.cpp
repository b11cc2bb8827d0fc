// Search trees on the command line: looked at, steered, searched on, replayed, compared.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/paths.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

class Tree : public ::testing::Test {
 protected:
  // Searches LeNet as a new run; on two GPUs there is an end to that.
  Json plan_with(const std::string& planner, const std::vector<std::string>& more = {},
                 const std::string& cluster = "tag-2x1080ti") {
    std::vector<std::string> arguments = {"plan", "--json", "--workspace", file()};
    for (const auto& [option, value] :
         {std::pair<std::string, std::string>{"--graph", sample_model("lenet")},
          {"--batch", "64"},
          {"--cluster", sample_cluster(cluster)},
          {"--planner", planner},
          {"--groups", "6"},
          {"--iterations", "120"}})
      arguments.insert(arguments.end(), {option, value});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(run_cli(arguments));
  }
  Json plan(const std::vector<std::string>& more = {}) { return plan_with("mcts", more); }
  CliResult tree(const std::vector<std::string>& arguments, int run = 1) {
    std::vector<std::string> all = {"tree", "--workspace", file(), "--run", std::to_string(run)};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_cli(all);
  }
  Json json(std::vector<std::string> arguments, int run = 1) {
    arguments.emplace_back("--json");
    return json_of(tree(arguments, run));
  }
  void refuse(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
    const std::string before = *Workspace(file()).runs().tree(1);
    const CliResult result = tree(arguments);
    EXPECT_EQ(result.status, 2) << arguments.front() << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << " is not in: " << result.err;
    EXPECT_TRUE(*Workspace(file()).runs().tree(1) == before) << arguments.front();
  }
  std::string file() const { return folder_ / "w.strata"; }

  TemporaryFolder folder_;
};

Json group_of_plan(const fs::path& plan, const std::string& name) {
  const Json json = Json::parse(read_file(plan));
  for (const Json& group : json["groups"])
    if (group["name"] == name) return group;
  return {};
}

TEST_F(Tree, ShowsWhatWasSearched) {
  plan();
  const Json shown = json({"show", "--depth", "1", "--top", "1000"});
  const Json root = shown["tree"];
  EXPECT_EQ(root["vertex"], "root");
  EXPECT_GT(root["visits"], 20);
  EXPECT_EQ(root["children"].size(), root["child_count"].get<std::size_t>());
  int visits = 1;  // its own evaluation
  for (const Json& child : root["children"]) {
    visits += child["visits"].get<int>();
    EXPECT_EQ(child["group"], root["children"][0]["group"]);
    EXPECT_TRUE(child["decision"]["devices"].is_object());
    EXPECT_FALSE(child.contains("children"));
  }
  EXPECT_EQ(visits, root["visits"]);
  EXPECT_EQ(shown["best_path"][0], "root");
  EXPECT_EQ(shown["best_path"][1], root["children"][0]["vertex"]) << "the most visited comes first";
  EXPECT_EQ(json({"show", "--vertex", "root/1", "--depth", "0"})["tree"]["vertex"], "root/1");
  const CliResult text = tree({"show", "--depth", "1", "--top", "2"});
  EXPECT_NE(text.out.find("best path"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(" more"), std::string::npos) << text.out;
}

// Done when: run, pin, continue, boost, replay, close, open: the tree is the same.
TEST_F(Tree, IsSteeredSearchedAndSteeredAgain) {
  plan();
  const fs::path result = folder_ / "p.json";
  const Json root = json({"show", "--depth", "1", "--top", "1000"})["tree"];
  const std::string group = root["children"][0]["group"];

  const Json pinned = json({"pin", group, "ps:1080ti-0x3,1080ti-1x3"});
  EXPECT_EQ(pinned["state"]["pinned"][group]["mode"], "replicate-ps");
  const Json continued = json({"continue", "--iterations", "64", "-o", result});
  EXPECT_TRUE(continued["feasible"].get<bool>());
  EXPECT_EQ(group_of_plan(result, group)["mode"], "replicate-ps");
  EXPECT_EQ(group_of_plan(result, group)["devices"].size(), 2u);
  EXPECT_EQ(json({"show"})["iterations"], 120 + 64);

  EXPECT_TRUE(json({"unpin", group})["state"]["pinned"].empty());
  refuse({"unpin", group}, {group, "is not pinned"});
  json({"boost", "root/1", "2.5"});
  const Json excluded = json({"show", "--vertex", "root/0", "--depth", "0"})["tree"];
  json({"exclude", "root/0"});
  json({"continue", "--iterations", "64"});
  const Json after = json({"show", "--vertex", "root/0", "--depth", "0"})["tree"];
  EXPECT_EQ(after["visits"], excluded["visits"]);
  EXPECT_EQ(after["marks"][0], "excluded");
  const Json boosted = json({"show", "--vertex", "root/1", "--depth", "0"})["tree"];
  EXPECT_EQ(boosted["weight"], 2.5);
  EXPECT_NE(tree({"show", "--vertex", "root/1"}).out.find("boosted 2.50x"), std::string::npos);
}

TEST_F(Tree, PushesOneCandidateDeeper) {
  plan();
  const Json before = json({"show", "--depth", "1", "--top", "1000"})["tree"];
  json({"push", "root/2", "--iterations", "48"});
  const Json shown = json({"show", "--depth", "1", "--top", "1000"});
  EXPECT_FALSE(shown.contains("focus")) << "it holds for one search only";
  const auto visits = [](const Json& root, const std::string& vertex) {
    for (const Json& child : root["children"])
      if (child["vertex"] == vertex) return child["visits"].get<int>();
    return -1;
  };
  EXPECT_GT(visits(shown["tree"], "root/2"), visits(before, "root/2"));
  for (const char* other : {"root/0", "root/1", "root/3"})
    EXPECT_EQ(visits(shown["tree"], other), visits(before, other)) << other;
}

TEST_F(Tree, OnlySomeGroupsAreSearched) {
  plan({"-o", folder_ / "before.json"});
  const Json shown = json({"show", "--depth", "2"});
  const std::string group = shown["tree"]["children"][0]["children"][0]["group"];
  const Json only = json({"only", group});
  EXPECT_EQ(only["state"]["pinned"].size(), 5u);
  EXPECT_FALSE(only["state"]["pinned"].contains(group));
  json({"continue", "--iterations", "40", "-o", folder_ / "after.json"});
  const Json before = Json::parse(read_file(folder_ / "before.json"))["groups"];
  ASSERT_EQ(before.size(), 6u);
  for (const Json& each : before) {
    if (each["name"] == group) continue;
    EXPECT_EQ(each, group_of_plan(folder_ / "after.json", each["name"]));
  }
  EXPECT_TRUE(json({"unpin", "--all"})["state"]["pinned"].empty());
}

TEST_F(Tree, ReplaysEveryBackUp) {
  plan();
  const Json shown = json({"show", "--depth", "0"});
  const int steps = shown["steps"];
  ASSERT_GT(steps, 20);
  const Json all = json({"replay", "--to", std::to_string(steps), "--scores"});
  EXPECT_EQ(all["replay"].size(), static_cast<std::size_t>(steps));
  double value = 0;  // of the root
  for (int i = 0; i < steps; ++i) {
    const Json& step = all["replay"][i];
    EXPECT_EQ(step["step"], i + 1);
    const Json& root = step["path"][0];
    EXPECT_EQ(root["visits_before"], i);
    EXPECT_DOUBLE_EQ(root["value_before"], value);
    value = root["value_after"];
    for (const Json& vertex : step["path"])
      EXPECT_EQ(vertex["visits_after"], vertex["visits_before"].get<int>() + 1);
    EXPECT_EQ(step["path"].back()["vertex"], step["vertex"]);
    EXPECT_EQ(step["expanded"], step["path"].back()["visits_before"] == 0);
  }
  EXPECT_EQ(shown["tree"]["visits"], steps);
  EXPECT_NEAR(shown["tree"]["value"], value, 1e-9);
  const Json one = json({"replay", "--from", "7", "--to", "7", "--scores"});
  EXPECT_EQ(one["replay"][0], all["replay"][6]);
  const CliResult text = tree({"replay", "--from", "2", "--to", "3"});
  for (const char* part :
       {"step 2 of ", "step 3 of ", "selection", "expansion", "evaluation", "back-up", "1 -> 2"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << text.out;
}

TEST_F(Tree, ComparesTwoSearches) {
  plan();
  plan({"--seed", "2"});
  const Json json = this->json({"compare", "--with", "2"});
  EXPECT_GE(json["common"], 1);
  const Json first = this->json({"show"}), second = this->json({"show"}, 2);
  EXPECT_EQ(json["common"].get<int>() + json["only_here"].get<int>(), first["vertices"]);
  EXPECT_EQ(json["common"].get<int>() + json["only_other"].get<int>(), second["vertices"]);
  EXPECT_EQ(tree({"compare", "--with", "2"}).status, 0);
  const Json same = this->json({"compare", "--with", "1"});
  EXPECT_EQ(same["only_here"], 0);
  refuse({"compare", "--with", "9"}, {"has no run 9"});
}

TEST_F(Tree, RefusesWhatIsNotThere) {
  plan();
  const std::string group = json({"show", "--depth", "1"})["tree"]["children"][0]["group"];
  refuse({"pin", group + "x", "ps:all"}, {"no op group", "did you mean " + group});
  refuse({"pin", "?", "ps:all"}, {"no op group", "the op groups: ", group});
  refuse({"pin", group, "magic:all"}, {"no mode \"magic\"", "allreduce"});
  refuse({"pin", group, "ps"}, {"names no device", "ps:all"});
  refuse({"pin", group, "ps:"}, {"names no device"});
  refuse({"pin", group, "tensor:2"}, {"names no device", "tensor:2:all"});
  refuse({"pin", group, "tensor:x:all"}, {"\"x\" is no number", "tensor:2:DEVICES"});
  refuse({"pin", group, "tensor:3:all"}, {"is tensor 3", "no whole rows"});
  refuse({"pin", group, "ps:v100"}, {"no device or device group", "1080ti"});
  refuse({"pin", group, "ps:1080ti-0x0"}, {"\"x0\" is not a share"});
  refuse({"pin", group, "ps:1080ti-0x1.5"}, {"\"x1.5\" is not a share"});
  refuse({"pin", group, "ps:all,1080ti-0:0"}, {"1080ti-0:0 is named twice"});
  refuse({"pin", group, "duplicate:1080ti-0:0x2,1080ti-1"}, {"mean nothing in this mode"});
  refuse({"unpin"}, {"no op group", "--all"});
  refuse({"only", group, "nobody"}, {"nobody"});
  refuse({"show", "--vertex", "root/999"}, {"root/999", "children"});
  refuse({"show", "--vertex", "stem/1"}, {"stem/1", "root"});
  refuse({"boost", "root", "2"}, {"root"});
  refuse({"boost", "root/0", "0"}, {"factor"});
  refuse({"boost", "root/0", "-1"}, {"factor"});
  refuse({"exclude", "root/0/999"}, {"root/0/999"});
  refuse({"push", "root/999"}, {"root/999"});
  refuse({"replay", "--from", "100000"}, {"there are no steps"});
  refuse({"replay", "--from", "5", "--to", "4"}, {"there are no steps 5 to 4"});
  refuse({"replay", "--from", "0"}, {"--from"});
  EXPECT_EQ(tree({"show"}, 7).status, 2);
  EXPECT_NE(tree({"show"}, 7).err.find("has no run 7"), std::string::npos);
  EXPECT_EQ(run_cli({"tree", "--workspace", folder_ / "none.strata", "--run", "1", "show"}).status,
            2);
  EXPECT_FALSE(fs::exists(folder_ / "none.strata"));
}

TEST_F(Tree, RunsWithoutATreeSaySo) {
  plan_with("dp-allreduce");
  for (const char* command : {"show", "replay", "continue"}) {
    const CliResult result = tree({command});
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_NE(result.err.find("has no search tree"), std::string::npos) << result.err;
  }
}

// One GPU cannot hold BERT-Large's step, and everything is told to go there.
TEST_F(Tree, APinThatCannotFitIsAResult) {
  const CliResult planned =
      run_cli({"plan", "--graph", sample_model("bert_large"), "--batch", "16", "--cluster",
               sample_cluster("tag-testbed"), "--planner", "mcts", "--groups", "1", "--iterations",
               "8", "--workspace", file(), "--json"});
  ASSERT_EQ(planned.status, 0) << planned.err;
  const std::string group = json({"show", "--depth", "1"})["tree"]["children"][0]["group"];
  json({"pin", group, "allreduce:1080ti-0:0"});
  const CliResult text = tree({"continue", "--iterations", "8"});
  EXPECT_EQ(text.status, 1) << text.out << text.err;
  for (const char* part : {"does not fit in memory", "Infeasible", "1080ti-0:0 needs", "pinned"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << text.out;
  json({"unpin", group});
  EXPECT_EQ(tree({"continue", "--iterations", "8"}).status, 0) << "and it can be taken back";
}

TEST_F(Tree, ADamagedTreeIsToldAndTheRunStaysUsable) {
  plan();
  const std::string bytes = *Workspace(file()).runs().tree(1);
  Json last;
  for (const std::size_t size :
       {bytes.size() / 2, bytes.size() - 1, std::size_t{20}, std::size_t{0}}) {
    Workspace(file()).runs().save_tree(1, bytes.substr(0, size));
    const Json shown = json_of(run_cli({"runs", "--workspace", file(), "show", "1", "--json"}));
    EXPECT_FALSE(shown["resumable"].get<bool>());
    EXPECT_TRUE(shown["strategy"].is_object());
    for (const std::vector<std::string>& each :
         std::vector<std::vector<std::string>>{{"show"}, {"continue"}, {"exclude", "root/0"}})
      refuse(each, {"w.strata: run 1: search tree", "damaged", "runs resume 1 --afresh"});
    EXPECT_EQ(run_cli({"runs", "--workspace", file(), "list"}).status, 0);
  }
  json_of(run_cli(
      {"runs", "--workspace", file(), "resume", "1", "--afresh", "--iterations", "40", "--json"}));
  EXPECT_EQ(json({"show"})["iterations"], 40);
}

// Waits until the run's tree has more than `least` bytes.
bool wait_for_tree(const fs::path& file, std::size_t least) {
  return wait_until([&] {
    const auto bytes = Workspace(file).runs().tree(1);
    return bytes && bytes->size() > least;
  });
}

TEST_F(Tree, CtrlCStoresWhatWasSearched) {
  plan_with("mcts", {}, "tag-testbed");
  const std::string group = json({"show", "--depth", "1"})["tree"]["children"][0]["group"];
  json({"pin", group, "allreduce:all"});
  const int before = json({"show"})["iterations"];
  const pid_t child = start_cli({"tree", "--workspace", file(), "--run", "1", "continue",
                                 "--budget", "1h", "-o", folder_ / "p.json"});
  ASSERT_TRUE(wait_for_tree(file(), Workspace(file()).runs().tree(1)->size()));
  const CliResult meanwhile = tree({"exclude", "root/1"});
  EXPECT_EQ(meanwhile.status, 2);
  EXPECT_NE(meanwhile.err.find("is being searched or changed by another program"),
            std::string::npos)
      << meanwhile.err;
  EXPECT_EQ(tree({"show"}).status, 0) << "looking is free";
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 0);
  const Json after = json({"show"});
  EXPECT_GT(after["iterations"], before);
  EXPECT_TRUE(after["pinned"].contains(group));
  EXPECT_TRUE(fs::exists(folder_ / "p.json"));
  json({"exclude", "root/1"});
}

TEST_F(Tree, SurvivesBeingKilledAtAnyMoment) {
  plan_with("mcts", {}, "tag-testbed");
  json({"exclude", "root/1"});
  const pid_t push =
      start_cli({"tree", "--workspace", file(), "--run", "1", "push", "root/0", "--budget", "1h"});
  ASSERT_TRUE(wait_for_tree(file(), Workspace(file()).runs().tree(1)->size()));
  ::kill(push, SIGKILL);
  wait_for(push);
  EXPECT_FALSE(json({"show"}).contains("focus")) << "the focus went with the search";
  int iterations = json({"show"})["iterations"];
  for (int round = 0; round < 6; ++round) {
    const pid_t child =
        start_cli({"tree", "--workspace", file(), "--run", "1", "continue", "--budget", "1h"});
    // Each round it has written once more when it dies, within a millisecond of its write.
    const fs::path log = file() + "-wal";
    for (int writes = 0; writes <= round; ++writes) {
      std::error_code none;
      const auto before = fs::last_write_time(log, none);
      ASSERT_TRUE(wait_until([&] { return fs::last_write_time(log, none) != before; }));
    }
    ::kill(child, SIGKILL);
    wait_for(child);
    const Json shown = json({"show", "--vertex", "root/1", "--depth", "0"});
    EXPECT_GE(shown["iterations"], iterations);
    EXPECT_EQ(shown["tree"]["weight"], 0.0);
    iterations = shown["iterations"];
  }
  json({"continue", "--iterations", "16"});
}

// What the run's costs were is part of its problem.
TEST_F(Tree, ContinuesWithTheCostsOfTheRun) {
  const fs::path costs = folder_ / "costs.json";
  const std::string calibration =
      read_file(fs::path(kSourceFolder) / "resources/calibrations/tensorflow-1.14.json");
  write_file(costs, calibration);
  const Json planned = plan({"--calibration", costs});
  EXPECT_EQ(json({"continue", "--iterations", "16"})["baseline_step_time_s"],
            planned["baseline_step_time_s"]);
  Json other = Json::parse(calibration);
  other["issue_us"] = other["issue_us"].get<double>() * 1.5;
  write_file(costs, other.dump());
  refuse({"continue"}, {"run 1", "was made with the costs of calibration", "put the file back"});
  fs::remove(costs);
  refuse({"continue"}, {"run 1", "costs.json", "put the file back"});
  refuse({"show"}, {"costs.json"});
  EXPECT_EQ(run_cli({"runs", "--workspace", file(), "show", "1"}).status, 0);
  write_file(costs, calibration);
  EXPECT_EQ(tree({"continue", "--iterations", "16"}).status, 0);
}

}  // namespace
}  // namespace strato
