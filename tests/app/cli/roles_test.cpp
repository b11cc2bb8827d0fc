// Roles on the command line that cannot be, or are forbidden: one line that says where and why, and
// nothing is written.
#include <gtest/gtest.h>

#include "core/io/file.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

class CliRoles : public ::testing::Test {
 protected:
  std::vector<std::string> plan(const std::vector<std::string>& more,
                                const std::string& planner = "pipeline") const {
    std::vector<std::string> arguments = {"plan",
                                          "--graph",
                                          sample_model("bert_3l"),
                                          "--batch",
                                          "16",
                                          "--cluster",
                                          sample_cluster("h100-2x8"),
                                          "--planner",
                                          planner,
                                          "-o",
                                          file_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void refuse_plan(const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    expect_refused(plan(more), parts);
    EXPECT_FALSE(fs::exists(file_));
  }
  // Two stages of four rows of two columns, in four micro-batches.
  void make_plan() {
    const CliResult made =
        run_cli(plan({"--set", "stages=2", "--set", "micro_batches=4", "--set", "tensor=2"}));
    ASSERT_EQ(made.status, 0) << made.err;
  }
  template <class Change>
  std::vector<std::string> edited(Change change) {
    Json json = Json::parse(read_file(file_));
    change(json);
    write_file(folder_ / "edited.json", json.dump());
    return {"simulate", "--plan", folder_ / "edited.json", "--trace", trace_};
  }
  template <class Change>
  void refuse_edited(Change change, std::vector<std::string> parts) {
    parts.emplace_back("edited.json: ");
    expect_refused(edited(change), parts);
    EXPECT_FALSE(fs::exists(trace_));
  }
  void refuse_schedule(const std::vector<std::string>& rows,
                       const std::vector<std::string>& parts) {
    refuse_edited([&](Json& json) { json["schedule"] = rows; }, parts);
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "plan.json", trace_ = folder_ / "trace.json";
};

TEST_F(CliRoles, OptionsThatCannotBe) {
  const auto set = [&](const std::string& text, const std::string& why) {
    refuse_plan({"--set", text}, {"--set " + text, why});
  };
  set("tensor=3", "does not divide the 16 devices");
  set("tensor=x", "not a whole number");
  set("stages=3", "does not divide the 16 devices");
  set("micro_batches=3", "not divide the batch of 16");
  set("schedule=2f2b", "give one of: as-ready, gpipe, 1f1b");
  set("shard=everything", "give one of: nothing, updates");
  refuse_plan({"--micro-batches", "3"}, {"micro-batches", "do not divide the batch of 16"});
  refuse_plan({"--tensor", "17"}, {"tensor 17", "has 16 devices"});
  refuse_plan({"--schedule", "2f2b"}, {"--schedule", "\"2f2b\" is no schedule, and no file"});
  refuse_plan({"--pin", "*=tensor:3"}, {"tensor 3 on 16 devices, which are no whole rows"});
  refuse_plan({"--pin", "*=tensor:0"}, {"--pin *=tensor:0", "\"0\" is no number of columns"});
  expect_refused({"plan", "--graph", sample_model("lenet"), "--batch", "16", "--cluster",
                  sample_cluster("h100-2x8"), "--planner", "pipeline", "--set", "stages=16"},
                 {"--set stages=16", "more than there are layers"});
}

TEST_F(CliRoles, TablesThatCannotBe) {
  const auto refuse_table = [&](const std::string& text, const std::string& why) {
    write_file(folder_ / "table.csv", text);
    refuse_plan({"--schedule", folder_ / "table.csv"}, {"table.csv: ", why});
  };
  refuse_table("0F0,0B0\n1F0,1Q0\n", "row 2, column 2: \"1Q0\" is no cell");
  refuse_table("0F0,0F1,0B0,0B1\n1F0,1B0,1F1\n", "row 2: has no cell 1B1");
  refuse_table("0F0,0B0\n1F0,1B0,1B0\n", "row 2, cell 3 (\"1B0\"): is there twice");
}

TEST_F(CliRoles, PlansEditedByHand) {
  make_plan();
  const auto group = [&](const char* key, const Json& value, const std::string& why) {
    refuse_edited([&](Json& json) { json["groups"][0][key] = value; }, {why});
  };
  group("tensor", 3, "is tensor 3 on 8 devices, which are no whole rows");
  group("tensor", 0, "groups[0].tensor: is 0");
  group("tensor", "2", "groups[0].tensor: is not a whole number");
  group("mode", "replicate-ps", "is tensor 2 in mode replicate-ps");
  const auto whole = [&](const char* key, const Json& value, const std::string& why) {
    refuse_edited([&](Json& json) { json[key] = value; }, {why});
  };
  whole("micro_batches", 3, "are 3, which do not divide the batch of 16");
  whole("micro_batches", 0, "micro_batches: is 0");
  whole("schedule", "2f2b", "schedule: \"2f2b\" is no schedule of micro-batches");
  whole("gather", "never", "gather: \"never\" is no way to gather parameters");
}

TEST_F(CliRoles, SchedulesEditedByHand) {
  make_plan();
  const std::string first = "0F0 0F1 0F2 0F3 0B0 0B1 0B2 0B3",
                    second = "1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3";
  const auto good = edited([&](Json& json) { json["schedule"] = std::vector{first, second}; });
  EXPECT_EQ(run_cli(good).status, 0);
  fs::remove(trace_);
  refuse_schedule({first, "1F0 1B0 1F1 1B1 1F2 1F3 1B3"}, {"schedule, row 2: has no cell 1B2"});
  refuse_schedule({first, second + " 1B3"}, {"row 2, cell 9 (\"1B3\"): is there twice"});
  refuse_schedule({first}, {"row 2: is missing: the strategy makes 2 stages"});
  refuse_schedule({first, second, "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3"}, {"row 3: is of no stage"});
  refuse_schedule({"0B0 0F0 0F1 0B1 0F2 0B2 0F3 0B3", second},
                  {"row 1: cannot go on: 0B0 waits for 0F0"});
}

TEST_F(CliRoles, ForbiddenOnesAreRefusedInWords) {
  make_plan();
  const auto refuse = [&](const std::string& role, const std::string& line,
                          const std::string& why) {
    expect_refused({"simulate", "--plan", file_, "--forbid", role, "--trace", trace_},
                   {"plan.json: constraint ", line, "op group \"", why});
    EXPECT_FALSE(fs::exists(trace_));
  };
  refuse("pipeline", "every op is without pipelining", "has a stage of its own in a pipeline");
  refuse("*embedding*=tensor", "is without tensor parallelism", "has tensor parallelism");
  EXPECT_EQ(run_cli({"simulate", "--plan", file_, "--forbid", "recompute,sharding,offload"}).status,
            0);
  fs::remove(file_);
  refuse_plan({"--set", "stages=2", "--forbid", "pipeline"},
              {"--set stages=2: is pipelining, which a constraint forbids"});
  refuse_plan({"--set", "offload=states", "--forbid", "offload"},
              {"--set offload=states: is offload to host memory, which a constraint forbids"});
}

// A plan that was made without them is one that is accepted without them.
TEST_F(CliRoles, ForbiddenOnesAreNotPlanned) {
  const std::string all = "pipeline,tensor,sharding,recompute";
  for (const char* planner : {"pipeline", "sharded-dp", "mcts", "heft"}) {
    SCOPED_TRACE(planner);
    const CliResult made = run_cli(plan({"--forbid", all, "--micro-batches", "2", "--tensor", "2",
                                         "--recompute", "blocks", "--iterations", "10"},
                                        planner));
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_EQ(run_cli({"simulate", "--plan", file_, "--forbid", all}).status, 0);
    const Json written = Json::parse(read_file(file_));
    EXPECT_EQ(written["result"]["constraints"]["forbid"][0]["roles"].size(), 4u);
    EXPECT_FALSE(written.contains("recomputed"));
    EXPECT_FALSE(written.contains("splits"));
  }
}

TEST_F(CliRoles, OfTheNameOfADeviceAreRemarkedOn) {
  Json cluster = Json::parse(read_file(sample_cluster("tag-2x1080ti")));
  cluster["machines"][0]["name"] = "tensor";
  cluster["machines"][0]["count"] = 1;
  write_file(folder_ / "cluster.json", cluster.dump());
  const CliResult made =
      run_cli({"plan", "--graph", sample_model("lenet"), "--batch", "16", "--cluster",
               folder_ / "cluster.json", "--planner", "dp-allreduce", "--forbid", "tensor"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_NE(made.err.find("\"tensor\" is forbidden as a role"), std::string::npos) << made.err;
}

TEST_F(CliRoles, ColumnsThatDivideNothingAreSaid) {
  const std::vector<std::string> arguments = {
      "plan",         "--graph",   sample_model("lenet"),      "--batch",
      "16",           "--cluster", sample_cluster("h100-2x8"), "--planner",
      "dp-allreduce", "--tensor"};
  const auto with = [&](const char* width) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {width, "--json"});
    return json_of(run_cli(all));
  };
  const std::string said = with("16")["undivided"];
  EXPECT_NE(said.find("can be divided between 16 columns (\""), std::string::npos) << said;
  EXPECT_NE(said.find("more op groups are alike"), std::string::npos) << said;
  const std::string loss = with("2")["undivided"];  // halves of all else are there
  EXPECT_NE(loss.find("(\"logits/loss\" has no axis but the batch)"), std::string::npos) << loss;
  EXPECT_EQ(loss.find("more op groups"), std::string::npos) << loss;
  EXPECT_FALSE(with("1").contains("undivided"));
  const std::string fact = with("3")["facts"]["tensor"];
  EXPECT_EQ(fact.substr(0, 29), "no op group has rows of 3: it") << fact;
}

}  // namespace
}  // namespace strato
