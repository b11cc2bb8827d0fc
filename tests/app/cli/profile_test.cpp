// Measuring on this machine, and planning with what was measured.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

TEST(Profile, SaysWhenItCoversNothing) {
  TemporaryFolder folder;
  write_file(folder / "empty.json",
             R"({"format": "stratoscope-profile", "version": 1, "name": "nothing",
                 "units": {"time": "us", "bytes": "B"}, "ops": []})");
  const CliResult result =
      run_cli({"plan", "--graph", sample_model("lenet"), "--batch", "2", "--cluster", "local-cpu",
               "--planner", "single-device", "--profile", folder / "empty.json"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("profile \"nothing\" has no op: all op times are analytic"),
            std::string::npos)
      << result.err;
}

TEST(Profile, RefusesBadInput) {
  TemporaryFolder folder;
  const std::string lenet = sample_model("lenet");
  write_file(folder / "broken.json", "{");
  expect_refused({"profile", "--graph", lenet, "--batch", "2", "--merge", folder / "broken.json"},
                 {"broken.json"});
  expect_refused({"profile", "--graph", lenet, "--batch", "2", "-o", lenet}, {"also another file"});
  expect_refused({"profile", "--graph", lenet, "--batches", "2,x"}, {"--batches"});
  write_file(
      folder / "twice.json",
      R"({"format": "stratoscope-profile", "version": 1, "ops": [{"gpu": "a", "gpu": "b"}]})");
  expect_refused({"plan", "--graph", lenet, "--batch", "2", "--cluster", "local-cpu", "--profile",
                  folder / "twice.json"},
                 {"twice.json: ops[0].gpu: is there more than once"});
  expect_refused({"plan", "--graph", lenet, "--batch", "2", "--cluster", "local-cpu", "--profile",
                  folder / "broken.json"},
                 {"broken.json"});
  expect_refused({"plan", "--graph", lenet, "--batch", "2", "--cluster", "local-cpu",
                  "--calibration", "nobody"},
                 {"nobody"});
  expect_refused({"plan", "--graph", lenet, "--batch", "2", "--cluster", "local-cpu",
                  "--calibration", folder / "absent.json"},
                 {"absent.json"});
}

#ifdef STRATO_TORCH

TEST(Profile, RefusesWhatTheEngineCannot) {
  const std::string lenet = sample_model("lenet");
  expect_refused({"profile", "--graph", lenet, "--batch", "2", "--device", "cuda:7"},
                 {"there is no device \"cuda:7\""});
  expect_refused({"profile", "--graph", lenet, "--batch", "2", "--optimizer", "magic"}, {"magic"});
  expect_refused({"profile", "--graph", lenet}, {"--batch"});
  expect_refused({"profile", "--graph", lenet, "--batch", "2", "--threads", "4096"},
                 {"4096 threads are too many"});
  expect_refused({"profile", "--graph", lenet, "--batches", "2,2147483647"},
                 {"batch 2147483647: one op alone holds"});
}

std::vector<std::string> measure(const fs::path& output, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {
      "profile", "--graph", sample_model("lenet"), "--repetitions", "3", "--threads", "1",
      "-o",      output};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Profile, MeasuresEveryOpAtSeveralBatchSizes) {
  TemporaryFolder folder;
  const Json json = json_of(run_cli(measure(folder / "p.json", {"--batch", "12", "--json"})));
  for (const char* key : {"step_time_s", "step_spread_s", "sum_of_ops_s", "ops", "signatures",
                          "batches", "most_expensive", "host", "software", "wall_s"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_GT(json["step_time_s"].get<double>(), 0);
  EXPECT_FALSE(json["stopped"].get<bool>());
  ASSERT_EQ(json["batches"].size(), 4u);  // 12, 6, 3, 1
  EXPECT_EQ(json["batches"][3]["batch"], 1);
  EXPECT_NEAR(json["time_covered"].get<double>(), 1, 1e-6);
  EXPECT_LE(json["signatures"].get<int>(), json["ops"].get<int>());

  const Json file = Json::parse(read_file(folder / "p.json"));
  EXPECT_EQ(file["memory"].size(), 4u);
  EXPECT_EQ(file["ops"].size(), json["signatures"].get<std::size_t>());
  bool several = false;
  for (const Json& op : file["ops"]) {
    EXPECT_EQ(op["gpu"], "cpu");
    several = several || op["measurements"].size() == 4;
  }
  EXPECT_TRUE(several);
}

TEST(Profile, ServesPlansOfThisMachine) {
  TemporaryFolder folder;
  const fs::path profile = folder / "p.json", plan = folder / "plan.json";
  const Json measured = json_of(run_cli(measure(profile, {"--batch", "64", "--json"})));
  const CliResult planned =
      run_cli({"plan", "--graph", sample_model("lenet"), "--batch", "64", "--cluster", "local-cpu",
               "--planner", "single-device", "--profile", profile, "-o", plan, "--json"});
  const double predicted = json_of(planned)["step_time_s"];
  EXPECT_NEAR(predicted, measured["sum_of_ops_s"].get<double>(), 0.02 * predicted);
  // Another machine's noise is in both: a loose bound here, the exact one is measured by hand.
  EXPECT_NEAR(predicted, measured["step_time_s"].get<double>(), 0.5 * predicted);

  const CliResult same = run_cli({"simulate", "--plan", plan, "--profile", profile, "--json"});
  EXPECT_EQ(same.err, "");
  EXPECT_NEAR(json_of(same)["step_time_s"].get<double>(), predicted, 1e-12);
  const CliResult other = run_cli({"simulate", "--plan", plan, "--json"});
  EXPECT_NE(other.err.find("the plan was made with the costs of profile \"lenet"),
            std::string::npos)
      << other.err;
  EXPECT_EQ(std::count(other.err.begin(), other.err.end(), '\n'), 1);
  const CliResult compared =
      run_cli({"compare", "--graph", sample_model("lenet"), "--batch", "64", "--cluster",
               "local-cpu", "--planners", "single-device", "--profile", profile, "--json"});
  EXPECT_NEAR(json_of(compared)["planners"][0]["step_time_s"].get<double>(), predicted, 1e-12);
}

TEST(Profile, MergesWithAnother) {
  TemporaryFolder folder;
  run_cli(measure(folder / "a.json", {"--batches", "2"}));
  run_cli(measure(folder / "b.json", {"--batches", "4,8", "--merge", folder / "a.json"}));
  const Json file = Json::parse(read_file(folder / "b.json"));
  EXPECT_EQ(file["memory"].size(), 3u);
  for (const Json& op : file["ops"]) {
    const bool batched = op["signature"].get<std::string>().find("B") != std::string::npos;
    if (batched && op["measurements"].size() > 1) {
      EXPECT_EQ(op["measurements"].size(), 3u);
    }
  }
}

TEST(Profile, SaysWhenItPoolsWhatAnotherMachineMeasured) {
  TemporaryFolder folder;
  run_cli(measure(folder / "a.json", {"--batches", "2"}));
  Json other = Json::parse(read_file(folder / "a.json"));
  const CliResult same =
      run_cli(measure(folder / "b.json", {"--batches", "2", "--merge", folder / "a.json"}));
  EXPECT_EQ(same.err, "");
  other["host"] = "another machine";
  write_file(folder / "c.json", other.dump());
  const CliResult mixed = run_cli(
      measure(folder / "d.json", {"--batches", "2", "--merge", folder / "c.json", "--json"}));
  EXPECT_EQ(mixed.status, 0);
  EXPECT_NE(mixed.err.find("and on another machine: the mean of both counts"), std::string::npos)
      << mixed.err;
  EXPECT_EQ(Json::parse(mixed.out)["warnings"].size(), 1u);
  const CliResult planned =
      run_cli({"plan", "--graph", sample_model("lenet"), "--batch", "2", "--cluster", "local-cpu",
               "--planner", "single-device", "--profile", folder / "a.json", "--profile",
               folder / "c.json"});
  EXPECT_NE(planned.err.find("another machine"), std::string::npos) << planned.err;
}

TEST(Profile, StopsWithWhatItHas) {
  TemporaryFolder folder;
  OnTerminal profile({"profile", "--graph", sample_model("lenet"), "--batch", "32", "--repetitions",
                      "100000", "--threads", "1", "-o", folder / "p.json"});
  ASSERT_TRUE(profile.wait_for_text("batch 32 (1 of 4)", 20)) << "rounds, the first to warm up";
  EXPECT_EQ(profile.interrupt(), 0);
  const Json file = Json::parse(read_file(folder / "p.json"));
  EXPECT_EQ(file["memory"].size(), 1u);
  EXPECT_GT(file["ops"].size(), 20u);
}

#else

TEST(Profile, SaysThatThereIsNoEngine) {
  expect_refused({"profile", "--graph", sample_model("lenet"), "--batch", "2"},
                 {"no compute engine"});
}

#endif

}  // namespace
}  // namespace strato
