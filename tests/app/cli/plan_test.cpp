// The main job on the command line: plan, simulate, export, compare, runs.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "core/io/file.h"
#include "core/io/json.h"
#include "core/store/workspace.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {
namespace fs = std::filesystem;

// A small search; what `more` names replaces the default.
std::vector<std::string> plan_arguments(const std::vector<std::string>& more) {
  const std::pair<const char*, std::string> defaults[] = {
      {"--graph", sample_model("lenet")},
      {"--batch", "64"},
      {"--cluster", sample_cluster("tag-2x1080ti")},
      {"--planner", "mcts"},
      {"--iterations", "40"},
      {"--seed", "3"},
      {"--groups", "6"}};
  std::vector<std::string> arguments = {"plan"};
  for (const auto& [option, value] : defaults) {
    if (std::find(more.begin(), more.end(), option) != more.end()) continue;
    arguments.insert(arguments.end(), {option, value});
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Plan, JsonHasEveryKeyAndConsistentFigures) {
  const Json json = json_of(run_cli(plan_arguments({"--json"})));
  for (const char* key : {"step_time_s", "baseline_step_time_s", "speedup", "lower_bound_s",
                          "feasible", "tasks", "evaluations", "wall_s", "devices", "planner",
                          "seed", "note", "baseline_feasible", "baseline_devices"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  const double step = json["step_time_s"], baseline = json["baseline_step_time_s"];
  EXPECT_GT(step, 0);
  EXPECT_LE(step, baseline);
  EXPECT_NEAR(json["speedup"].get<double>(), baseline / step, 1e-9);
  EXPECT_LE(json["lower_bound_s"].get<double>(), step);
  ASSERT_EQ(json["devices"].size(), 2u);
  for (const Json& device : json["devices"]) {
    for (const char* key : {"name", "busy_s", "peak_memory_bytes", "memory_bytes"}) {
      EXPECT_TRUE(device.contains(key)) << key;
    }
    EXPECT_LE(device["busy_s"].get<double>(), step + 1e-12);
  }
}

TEST(Plan, MicroBatchesAreInTheReportAndInThePlan) {
  const TemporaryFolder folder;
  const std::string file = (folder / "plan.json").string();
  const CliResult run = run_cli(plan_arguments(
      {"--planner", "pipeline", "--set", "stages=2", "--set", "micro_batches=4", "-o", file}));
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("micro-batches  4 by 1f1b"), std::string::npos) << run.out;
  const Json plan = Json::parse(read_file(file));
  EXPECT_EQ(plan["micro_batches"], 4);
  EXPECT_EQ(plan["schedule"], "1f1b");
  const Json again = json_of(run_cli({"simulate", "--plan", file, "--json"}));
  EXPECT_EQ(again["step_time_s"], plan["result"]["step_time_s"]);
  expect_refused(plan_arguments({"--micro-batches", "7"}), {"micro-batches", "do not divide"});
  expect_refused(plan_arguments({"--schedule", "fast"}), {"fast", "gpipe"});
}

// As PyTorch writes them: rows of stages, cells apart by commas.
TEST(Plan, SchedulesMayBeTablesInFiles) {
  const TemporaryFolder folder;
  const std::string table = (folder / "table.csv").string(), file = (folder / "plan.json").string();
  const auto arguments = [&] {
    return plan_arguments({"--planner", "pipeline", "--schedule", table, "-o", file});
  };
  write_file(table, "0F0,0F1,,0B0,0B1\n,1F0,1B0,1F1,1B1\n");
  const CliResult run = run_cli(arguments());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("micro-batches  2 by a table"), std::string::npos) << run.out;
  const Json plan = Json::parse(read_file(file));
  EXPECT_EQ(plan["schedule"], Json({"0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"}));
  EXPECT_EQ(json_of(run_cli({"simulate", "--plan", file, "--json"}))["step_time_s"],
            plan["result"]["step_time_s"]);
  write_file(table, "0F0,0F1,0B0,0B1\n1F0,1B0,1F1\n");
  expect_refused(arguments(), {"row 2", "has no cell 1B1"});
  write_file(table, "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n");
  expect_refused(arguments(), {"cannot go on", "0B0 waits for 1B0, which comes after 1F1"});
  write_file(table, "0F0,0Z0\n");
  expect_refused(arguments(), {"table.csv", "row 1, column 2", "0Z0"});
  write_file(table, "0F0,\x1b[31m0Z0\xc2\x9b\n");
  EXPECT_EQ(run_cli(arguments()).err.find_first_of("\x1b\x9b"), std::string::npos);
  expect_refused(arguments(), {"\xef\xbf\xbd[31m0Z0\xef\xbf\xbd"});
}

// A file's name is bytes, and need not be a text.
TEST(Plan, TakesFilesOfAnyName) {
  const TemporaryFolder folder;
  const std::string model = folder / "le\xffnet.onnx", plan = folder / "a \xfe.json",
                    workspace = folder / "\xfd.strata";
  fs::copy_file(sample_model("lenet"), model);
  const std::vector<std::string> more = {"--graph",      model,     "--planner",
                                         "dp-allreduce", "-o",      plan,
                                         "--workspace",  workspace, "--json"};
  json_of(run_cli(plan_arguments(more)));
  EXPECT_TRUE(fs::exists(plan));
  json_of(run_cli({"simulate", "--plan", plan, "--graph", model, "--json"}));
  EXPECT_EQ(json_of(run_cli({"runs", "--workspace", workspace, "--json"}))["runs"].size(), 1u);
}

TEST(Plan, MemoryBreakdownOfDataParallelismAddsUp) {
  const Json json = json_of(run_cli(plan_arguments({"--json"})));
  for (const Json& device : json["baseline_devices"]) {
    std::int64_t sum = 0;
    for (const char* part : {"parameters_bytes", "optimizer_state_bytes", "gradients_bytes",
                             "activations_bytes", "other_bytes"}) {
      sum += device[part].get<std::int64_t>();
    }
    EXPECT_EQ(sum, device["peak_memory_bytes"].get<std::int64_t>()) << device.dump();
    EXPECT_EQ(2 * device["parameters_bytes"].get<std::int64_t>(),
              device["optimizer_state_bytes"].get<std::int64_t>())
        << "Adam keeps two slots";
  }
}

TEST(Plan, SameCommandSameBytesTimesApart) {
  TemporaryFolder folder;
  const auto run = [&](const std::string& name, const std::string& threads) {
    return run_cli(plan_arguments({"--json", "-o", folder / (name + ".json"), "--workspace",
                                   folder / (name + ".strata"), "--threads", threads}));
  };
  const CliResult first = run("a", "1"), second = run("b", "1"), third = run("c", "3");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(without_times(first.out), without_times(second.out));
  EXPECT_EQ(without_times(first.out), without_times(third.out))
      << "the number of threads changes nothing";
  EXPECT_TRUE(read_file(folder / "a.json") == read_file(folder / "b.json"));
  EXPECT_TRUE(read_file(folder / "a.json") == read_file(folder / "c.json"));
}

TEST(Plan, SimulatingThePlanGivesTheSameStep) {
  TemporaryFolder folder;
  const Json planned = json_of(run_cli(plan_arguments({"--json", "-o", folder / "plan.json"})));
  const Json simulated =
      json_of(run_cli({"simulate", "--plan", folder / "plan.json", "--json", "--trace",
                       folder / "trace.json", "--dump-tasks", folder / "tasks.jsonl"}));
  for (const char* key : {"step_time_s", "baseline_step_time_s", "lower_bound_s", "tasks",
                          "devices", "planner", "seed", "groups"}) {
    EXPECT_EQ(planned[key], simulated[key]) << key;
  }
  EXPECT_TRUE(simulated["unmatched"].empty());
  const std::string tasks = read_file(folder / "tasks.jsonl");
  EXPECT_EQ(static_cast<std::size_t>(std::count(tasks.begin(), tasks.end(), '\n')),
            planned["tasks"].get<std::size_t>() + 1);
  EXPECT_TRUE(Json::parse(tasks.substr(0, tasks.find('\n'))).contains("resident"));
}

// What Perfetto needs, and that slices of one track never overlap.
TEST(Plan, ChromeTraceIsSound) {
  TemporaryFolder folder;
  run_cli(plan_arguments({"-o", folder / "plan.json"}));
  const CliResult exported = run_cli({"export", "--plan", folder / "plan.json", "--format",
                                      "chrome-trace", "-o", folder / "trace.json"});
  ASSERT_EQ(exported.status, 0) << exported.err;
  const Json trace = Json::parse(read_file(folder / "trace.json"));
  std::map<std::pair<int, int>, double> end;
  std::map<int, std::int64_t> memory;
  double last = 0;
  std::vector<Json> slices;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "X") slices.push_back(event);
    if (event["ph"] == "C") {
      memory[event["pid"]] =
          std::max(memory[event["pid"]], event["args"]["bytes"].get<std::int64_t>());
      EXPECT_GE(event["args"]["bytes"].get<std::int64_t>(), 0);
    }
  }
  std::stable_sort(slices.begin(), slices.end(), [](const Json& a, const Json& b) {
    return a["ts"].get<double>() < b["ts"].get<double>();
  });
  for (const Json& slice : slices) {
    const std::pair<int, int> track(slice["pid"], slice["tid"]);
    EXPECT_GE(slice["ts"].get<double>() + 1e-6, end[track]) << slice.dump();
    end[track] = slice["ts"].get<double>() + slice["dur"].get<double>();
    last = std::max(last, end[track]);
    EXPECT_TRUE(slice["args"].contains("kind") && slice["args"].contains("task")) << slice.dump();
  }
  EXPECT_NEAR(last * 1e3, trace["otherData"]["step_time_ns"].get<double>(), 1e-3);
  const Json simulated = json_of(run_cli({"simulate", "--plan", folder / "plan.json", "--json"}));
  int process = 0;
  for (const Json& device : simulated["devices"]) {
    EXPECT_EQ(memory[++process], device["peak_memory_bytes"].get<std::int64_t>());
  }
}

TEST(Plan, DotNamesEveryGroup) {
  TemporaryFolder folder;
  run_cli(plan_arguments({"-o", folder / "plan.json"}));
  EXPECT_EQ(
      run_cli({"export", "--plan", folder / "plan.json", "--format", "dot", "-o", folder / "p.dot"})
          .status,
      0);
  const std::string dot = read_file(folder / "p.dot");
  const Json plan = Json::parse(read_file(folder / "plan.json"));
  for (const Json& group : plan["groups"]) {
    EXPECT_NE(dot.find(group["name"].get<std::string>()), std::string::npos);
  }
}

TEST(Plan, RebindsToAnotherClusterAndSaysWhatDidNotFit) {
  TemporaryFolder folder;
  run_cli(plan_arguments({"-o", folder / "plan.json"}));
  const CliResult other = run_cli({"simulate", "--plan", folder / "plan.json", "--cluster",
                                   sample_cluster("celeritas"), "--json"});
  EXPECT_EQ(other.status, 0);
  EXPECT_NE(other.err.find("is not in the cluster"), std::string::npos) << other.err;
  EXPECT_EQ(Json::parse(other.out)["cluster"],
            Json::parse(read_file(sample_cluster("celeritas")))["name"]);
}

TEST(Plan, BaselinesAndInferenceWork) {
  for (const char* planner :
       {"dp-allreduce", "dp-allreduce-proportional", "dp-ps", "single-device", "metis"}) {
    const Json json = json_of(run_cli(plan_arguments({"--planner", planner, "--json"})));
    EXPECT_EQ(json["planner"], planner);
    EXPECT_TRUE(json["feasible"].get<bool>());
  }
  TemporaryFolder folder;
  const CliResult result =
      run_cli({"plan", "--graph", sample_model("lenet"), "--batch", "8", "--cluster",
               sample_cluster("tag-2x1080ti"), "--planner", "dp-allreduce", "--inference", "--json",
               "-o", folder / "plan.json"});
  EXPECT_EQ(result.status, 0) << result.err;
  const Json again = json_of(run_cli({"simulate", "--plan", folder / "plan.json", "--json"}));
  EXPECT_EQ(again["tasks"], Json::parse(result.out)["tasks"]);
}

TEST(Plan, ModelsOutOfMemoryAreInfeasibleWithReasons) {
  TemporaryFolder folder;
  // One GPU whose memory is smaller than AlexNet's parameters.
  write_file(folder / "tiny.json",
             R"({"format": "stratoscope-cluster", "version": 1, "name": "tiny",
    "machines": [{"name": "m", "gpus": [{"type": "Small", "count": 1}]}],
    "gpu_types": [{"name": "Small", "memory_bytes": 100000000, "memory_bandwidth_GBps": 100,
                   "peak_tflops": {"fp32": 1}}]})");
  const CliResult result =
      run_cli({"plan", "--graph", sample_model("alexnet"), "--batch", "4", "--cluster",
               folder / "tiny.json", "--planner", "dp-allreduce", "--json"});
  EXPECT_EQ(result.status, 1) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_FALSE(json["feasible"].get<bool>());
  EXPECT_FALSE(json["baseline_feasible"].get<bool>());
  ASSERT_EQ(json["reasons"].size(), 1u);
  EXPECT_NE(json["reasons"][0].get<std::string>().find("m:0 needs"), std::string::npos);
  EXPECT_GT(json["baseline_devices"][0]["parameters_bytes"].get<std::int64_t>(), 200'000'000);
}

// METIS prints on standard output where it cannot divide a side any more.
TEST(Plan, FewHeavyGroupsOnManyDevicesPrintNothingButJson) {
  for (const char* cluster : {"tag-testbed", "tag-cloud", "mixed-a100-l40s"}) {
    for (const char* groups : {"2", "5", "60"}) {
      json_of(run_cli(
          plan_arguments({"--graph", sample_model("alexnet"), "--planner", "metis", "--cluster",
                          sample_cluster(cluster), "--groups", groups, "--json"})));
    }
  }
}

// A command given relative names in one folder leaves a plan and a workspace that serve in another.
TEST(Plan, RelativeNamesHoldFromEveryFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::create_directories(folder / "work" / "plans");
  fs::create_directories(folder / "elsewhere");
  write_file(folder / "work" / "m.onnx", read_file(sample_model("lenet")));
  fs::current_path(folder / "work");
  const CliResult planned = run_cli(plan_arguments(
      {"--graph", "m.onnx", "-o", "plans/p.json", "--workspace", "w.strata", "--json"}));
  fs::current_path(folder / "elsewhere");
  const Json step = json_of(planned)["step_time_s"];
  EXPECT_EQ(
      json_of(run_cli({"simulate", "--plan", "../work/plans/p.json", "--json"}))["step_time_s"],
      step);
  const Json resumed = json_of(run_cli({"runs", "resume", "1", "--workspace", "../work/w.strata",
                                        "--iterations", "5", "-o", "r.json", "--json"}));
  EXPECT_EQ(json_of(run_cli({"simulate", "--plan", "r.json", "--json"}))["step_time_s"],
            resumed["step_time_s"]);
  fs::current_path(before);
}

TEST(Plan, ABatchOnAnotherAxisIsKeptThroughTheWorkspace) {
  const TemporaryFolder folder;
  const std::string workspace = folder / "w.strata", plan = folder / "p.json";
  json_of(run_cli(plan_arguments({"--batch-axis", "1", "--workspace", workspace, "--json"})));
  json_of(run_cli({"runs", "resume", "1", "--workspace", workspace, "--iterations", "5", "-o", plan,
                   "--json"}));
  EXPECT_EQ(Json::parse(read_file(plan))["result"]["batch_axis"], 1);
}

TEST(Compare, OneTableForAllPlanners) {
  const CliResult result = run_cli({"compare", "--graph", sample_model("lenet"), "--batch", "64",
                                    "--cluster", sample_cluster("tag-2x1080ti"), "--planners",
                                    "single-device,dp-ps,dp-allreduce", "--json"});
  const Json json = json_of(result);
  ASSERT_EQ(json["planners"].size(), 3u);
  EXPECT_EQ(json["planners"][0]["planner"], "single-device");
  EXPECT_NEAR(json["planners"][2]["speedup"].get<double>(), 1, 1e-12);
  EXPECT_TRUE(json["best"].is_string());
}

TEST(Runs, StoreListShowResumeDelete) {
  TemporaryFolder folder;
  const std::string workspace = folder / "a.strata";
  run_cli(plan_arguments({"--workspace", workspace}));
  run_cli(plan_arguments({"--workspace", workspace, "--seed", "4"}));
  Json list = json_of(run_cli({"runs", "--workspace", workspace, "--json"}));
  ASSERT_EQ(list["runs"].size(), 2u);
  EXPECT_EQ(list["runs"][0]["state"], "finished");
  EXPECT_EQ(list["runs"][1]["options"]["seed"], 4);
  const Json before = json_of(run_cli({"runs", "show", "1", "--workspace", workspace, "--json"}));
  EXPECT_TRUE(before["resumable"].get<bool>());
  EXPECT_FALSE(before["history"].empty());
  EXPECT_EQ(before["strategy"]["groups"].size(), 6u);
  const Json resumed =
      json_of(run_cli({"runs", "resume", "1", "--workspace", workspace, "--iterations", "40", "-o",
                       folder / "plan.json", "--json"}));
  EXPECT_LE(resumed["step_time_s"].get<double>(), before["step_time_s"].get<double>());
  EXPECT_TRUE(fs::exists(folder / "plan.json"));
  const Json after = json_of(run_cli({"runs", "--workspace", workspace, "show", "1", "--json"}));
  EXPECT_GT(after["evaluations"].get<int>(), before["evaluations"].get<int>());
  EXPECT_GT(after["history"].size(), before["history"].size());
  EXPECT_EQ(run_cli({"runs", "delete", "1", "--workspace", workspace}).status, 0);
  list = json_of(run_cli({"runs", "list", "--workspace", workspace, "--json"}));
  EXPECT_EQ(list["runs"].size(), 1u);
  EXPECT_EQ(Workspace(workspace).problems().models().size(), 1u)
      << "the same model and options are kept once";
  EXPECT_FALSE(fs::exists(workspace + "-wal")) << "nothing but the one file is left";
}

std::vector<std::string> long_search(const TemporaryFolder& folder) {
  return plan_arguments({"--iterations", "100000000", "--workspace", folder / "a.strata", "-o",
                         folder / "plan.json", "--graph", sample_model("vgg19"), "--groups", "60",
                         "--cluster", sample_cluster("tag-testbed")});
}

// Waits until the search has written history of more than `least` seconds, at most a minute; how
// far into the search it reaches, in seconds.
double wait_for_history(const fs::path& file, double least = 0) {
  double reached = 0;
  const bool written = wait_until([&] {
    if (!fs::exists(file)) return false;
    try {
      const Workspace workspace(file);
      if (workspace.runs().all().empty()) return false;
      const auto history = workspace.runs().history(workspace.runs().all()[0].id);
      if (history.size() >= 2) reached = history.back().elapsed_seconds;
    } catch (const std::exception&) {  // not made yet
    }
    return reached > least;
  });
  return written ? reached : 0;
}

TEST(Interrupted, CtrlCStopsCleanlyWithTheBestSoFar) {
  TemporaryFolder folder;
  const pid_t child = start_cli(long_search(folder));
  wait_for_history(folder / "a.strata");
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 0);
  ASSERT_TRUE(fs::exists(folder / "plan.json"));
  EXPECT_EQ(run_cli({"simulate", "--plan", folder / "plan.json"}).status, 0);
  const Json list = json_of(run_cli({"runs", "--workspace", folder / "a.strata", "--json"}));
  EXPECT_EQ(list["runs"][0]["state"], "stopped");
}

TEST(Interrupted, AKilledSearchLosesAtMostASecondAndCanBeResumed) {
  TemporaryFolder folder;
  const pid_t child = start_cli(long_search(folder));
  const double seen = wait_for_history(folder / "a.strata");
  const auto start = std::chrono::steady_clock::now();
  ASSERT_GT(wait_for_history(folder / "a.strata", seen + 1), 0) << "no history is written";
  const std::chrono::duration<double> lived = std::chrono::steady_clock::now() - start;
  ::kill(child, SIGKILL);
  wait_for(child);
  EXPECT_FALSE(fs::exists(folder / "plan.json"));
  const Json shown =
      json_of(run_cli({"runs", "show", "1", "--workspace", folder / "a.strata", "--json"}));
  EXPECT_EQ(shown["state"], "running");
  ASSERT_FALSE(shown["history"].empty());
  EXPECT_GE(shown["history"].back()["elapsed_s"].get<double>(), seen + lived.count() - 1)
      << "it may lose one second";
  EXPECT_TRUE(shown["strategy"].is_object());
}

}  // namespace
}  // namespace strato
