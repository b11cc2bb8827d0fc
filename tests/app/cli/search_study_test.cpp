// Studies whose cells are what planners find: every kind from end to end, what is refused, planners
// that are not there, and Ctrl-C.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/app/cli/study_fixture.h"

namespace strato {
namespace {

const char* kSpeedup = R"({
  "format": "stratoscope-study", "version": 1, "kind": "speedup", "name": "small",
  "source": "nowhere", "iterations": 24, "groups": 6,
  "columns": [{"label": "A", "planner": "mcts", "over": "dp-allreduce", "cluster": "tag-2x1080ti"},
              {"label": "B", "planner": "dp-allreduce", "over": "dp-allreduce",
               "cluster": "tag-2x1080ti"},
              {"label": "C", "planner": "mcts", "over": "dp-ps", "cluster": "tag-testbed",
               "range": [1, 400]}],
  "rows": [{"label": "AlexNet", "model": "alexnet", "batch": 8, "values": [50, 20, null]},
           {"label": "LeNet", "model": "lenet", "batch": 8, "values": [50, null, "OOM"]}]
})";

class SearchStudy : public StudyFixture {
 protected:
  Json json_of(const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"study", file(text), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CliResult result = run_cli(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return Json::parse(result.out);
  }
};

TEST_F(SearchStudy, SpeedupsAreStepTimesOverOneAnother) {
  const Json study = json_of(kSpeedup)["studies"][0];
  EXPECT_EQ(study["kind"], "speedup");
  ASSERT_EQ(study["rows"].size(), 2u);
  const Json& cells = study["rows"][0]["cells"];
  EXPECT_EQ(cells[0]["theirs"], 50);
  EXPECT_EQ(cells[1]["ours"], 0);  // over itself
  double own = 0, base = 0;
  for (const Json& search : study["searches"]) {
    if (search["model"] != "AlexNet" || search["cluster"] != "tag-2x1080ti") continue;
    (search["planner"] == "mcts" ? own : base) = search["step_time_s"].get<double>();
  }
  EXPECT_NEAR(cells[0]["ours"].get<double>(), 100 * (base / own - 1), 1e-6);
  EXPECT_EQ(cells[0]["step_time_s"], own);
  EXPECT_GE(cells[0]["ours"].get<double>(), 0);
}

// Variables at the host: slower than on the GPUs, and what a row says is stronger.
TEST_F(SearchStudy, SpeedupsOverDataParallelismAtTheHost) {
  const std::string text = R"({
    "format": "stratoscope-study", "version": 1, "kind": "speedup", "name": "host",
    "source": "nowhere", "floor": false, "calibration": "tensorflow-1.14",
    "cluster": "fastt-8xv100", "gpus": 2,
    "columns": [{"label": "A", "planner": "dp-allreduce", "over": "dp-host"},
                {"label": "B", "planner": "dp-host", "over": "dp-host"}],
    "rows": [{"label": "AlexNet", "model": "alexnet", "batch": 64},
             {"label": "AllReduce", "model": "alexnet", "batch": 64, "over": "dp-allreduce"}]
  })";
  const Json rows = json_of(text)["studies"][0]["rows"];
  EXPECT_GT(rows[0]["cells"][0]["ours"], 10);
  EXPECT_EQ(rows[0]["cells"][1]["ours"], 0);
  EXPECT_EQ(rows[1]["cells"][0]["ours"], 0);
  EXPECT_LT(rows[1]["cells"][1]["ours"], -5);
  // With the framework's own time steps are longer and differ less.
  const std::string with =
      replaced(text, "\"floor\": false", "\"floor\": false, \"framework\": true");
  const Json framed = json_of(with)["studies"][0]["rows"];
  for (const int column : {0, 1})
    EXPECT_GT(framed[0]["cells"][column]["step_time_s"].get<double>(),
              rows[0]["cells"][column]["step_time_s"].get<double>());
  EXPECT_LT(framed[0]["cells"][0]["ours"], rows[0]["cells"][0]["ours"]);
}

TEST_F(SearchStudy, DirectionsAreTold) {
  const CliResult result = run_cli({"study", file(kSpeedup)});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("differs: AlexNet, B: as fast (0.0 %), in the paper faster"),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("LeNet, C: the paper ran out of memory, we do not"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("C: 1 % to 400 % in the paper; ours"), std::string::npos) << result.out;
}

TEST_F(SearchStudy, ResultsDoNotDependOnThreads) {
  const std::string path = file(kSpeedup);
  const auto text = [&](const char* threads) {
    return run_cli({"study", path, "--seeds", "2", "--threads", threads}).out;
  };
  const std::string one = text("1");
  EXPECT_NE(one.find("mean of 2 seeds"), std::string::npos) << one;
  EXPECT_EQ(one, text("3"));
}

TEST_F(SearchStudy, APlannerThatIsNotThereLeavesItsColumnOnly) {
  const std::string text = replaced(kSpeedup, "\"planner\": \"dp-allreduce\", \"over\"",
                                    "\"planner\": \"no-such+sfb\", \"over\"");
  const Json study = json_of(text)["studies"][0];
  EXPECT_EQ(study["rows"][0]["cells"][1]["missing"], "not built");
  EXPECT_TRUE(study["rows"][0]["cells"][0]["ours"].is_number());
}

TEST_F(SearchStudy, WhatAPlannerRefusesIsANote) {
  const std::string text = replaced(kSpeedup, "\"over\": \"dp-ps\"",
                                    "\"set\": {\"nonsense\": \"{model}\"}, \"over\": \"dp-ps\"");
  const Json study = json_of(text)["studies"][0];
  EXPECT_EQ(study["rows"][0]["cells"][2]["missing"], "refused");
  ASSERT_EQ(study["notes"].size(), 3u);  // one a model, and the range's
  EXPECT_NE(study["notes"][0].get<std::string>().find("nonsense=alexnet"), std::string::npos)
      << study["notes"];
}

TEST_F(SearchStudy, IterationsAreOverRandomClusters) {
  const char* text = R"({
    "format": "stratoscope-study", "version": 1, "kind": "iterations", "name": "small",
    "source": "nowhere", "iterations": 40, "groups": 6, "topologies": 2, "first_seed": 7,
    "columns": [{"label": "one", "planner": "mcts"}, {"label": "two", "planner": "no-such"}],
    "rows": [{"label": "AlexNet", "model": "alexnet", "batch": 64, "values": [60, 10]}]})";
  const Json study = json_of(text, {"--topologies", "3"})["studies"][0];
  const Json& cells = study["rows"][0]["cells"];
  EXPECT_EQ(study["topologies"], 3);
  EXPECT_EQ(cells[0]["clusters"], 3);
  EXPECT_LE(cells[0]["beaten"].get<int>(), 3);
  if (cells[0]["beaten"] == 0) {
    EXPECT_EQ(cells[0]["missing"], "never");
  } else {
    EXPECT_GE(cells[0]["ours"].get<double>(), 1);
    EXPECT_LE(cells[0]["ours"].get<double>(), 40);
  }
  EXPECT_EQ(cells[1]["missing"], "not built");
  EXPECT_EQ(study["directions"]["compared"], 0);
}

TEST_F(SearchStudy, StrategiesAreCounted) {
  const char* text = R"({
    "format": "stratoscope-study", "version": 1, "kind": "strategy", "name": "small",
    "source": "nowhere", "cluster": "tag-testbed", "groups": 6, "planner": "dp-allreduce",
    "columns": [{"label": "V100", "gpu": "V100-SXM2-32GB"}, {"label": "1080Ti", "gpu": "GTX-1080-Ti"},
                {"label": "PS", "exchange": "ps"}, {"label": "AR", "exchange": "allreduce"}],
    "rows": [{"label": "AlexNet", "model": "alexnet", "batch": 64, "values": [4, 0.1, 100, 0]}]})";
  const Json all = json_of(text)["studies"][0];
  const Json& cells = all["rows"][0]["cells"];
  EXPECT_DOUBLE_EQ(cells[0]["ours"].get<double>(), 4);
  EXPECT_DOUBLE_EQ(cells[1]["ours"].get<double>(), 8);
  EXPECT_DOUBLE_EQ(cells[2]["ours"].get<double>(), 0);
  EXPECT_DOUBLE_EQ(cells[3]["ours"].get<double>(), 100);
  EXPECT_DOUBLE_EQ(cells[3]["ours_by_bytes"].get<double>(), 100);
  EXPECT_EQ(all["directions"]["compared"], 3);
  EXPECT_EQ(all["directions"]["differ"].size(), 2u) << all["directions"];

  const Json ps =
      json_of(replaced(text, "dp-allreduce", "dp-ps"))["studies"][0]["rows"][0]["cells"];
  EXPECT_DOUBLE_EQ(ps[2]["ours"].get<double>(), 100);
  EXPECT_DOUBLE_EQ(ps[3]["ours"].get<double>(), 0);
  const Json one =
      json_of(replaced(text, "dp-allreduce", "single-device"))["studies"][0]["rows"][0]["cells"];
  EXPECT_DOUBLE_EQ(one[0]["ours"].get<double>() + one[1]["ours"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(one[2]["ours"].get<double>() + one[3]["ours"].get<double>(), 0);
}

TEST_F(SearchStudy, NothingIsDuplicatedWithoutSfb) {
  const char* text = R"({
    "format": "stratoscope-study", "version": 1, "kind": "duplicated", "name": "small",
    "source": "nowhere", "cluster": "tag-2x1080ti", "groups": 6,
    "columns": [{"label": "DP", "planner": "dp-allreduce"}],
    "rows": [{"label": "AlexNet", "model": "alexnet", "batch": 4}],
    "op_types": [{"label": "MatMul", "types": ["MatMul", "Gemm"], "value": 336}]})";
  const Json study = json_of(text)["studies"][0];
  ASSERT_EQ(study["rows"].size(), 1u);
  EXPECT_EQ(study["rows"][0]["ours"], 0);
  EXPECT_EQ(study["rows"][0]["theirs"], 336);
  EXPECT_EQ(study["directions"]["differ"].size(), 1u);
}

TEST_F(SearchStudy, ATableWithSfbIsAStepTimeTable) {
  const char* text = R"({
    "format": "stratoscope-study", "version": 1, "kind": "sfb", "name": "small",
    "source": "nowhere", "cluster": "tag-2x1080ti", "groups": 6, "iterations": 16,
    "columns": [{"label": "DP", "planner": "dp-allreduce"},
                {"label": "DP with SFB", "planner": "mcts", "over": "DP"}],
    "rows": [{"label": "AlexNet", "model": "alexnet", "batch": 4, "values": [0.05, 0.04]}]})";
  const Json both = json_of(text);
  ASSERT_EQ(both["studies"].size(), 2u);
  EXPECT_EQ(both["studies"][0]["kind"], "sfb");
  EXPECT_EQ(both["studies"][1]["cells"].size(), 1u);
  EXPECT_EQ(both["summary"]["calibrate"]["cells"], 1);
  const Json steps = json_of(text, {"--no-search"});
  ASSERT_EQ(steps["studies"].size(), 1u);
  EXPECT_EQ(steps["studies"][0], both["studies"][1]);
  const CliResult result = run_cli({"study", file(text)});
  EXPECT_NE(result.out.find("25.0 %"), std::string::npos) << result.out;  // the paper's speed-up
}

TEST_F(SearchStudy, BadFilesAreRefusedWithTheirPlace) {
  const auto refuse = [&](const std::string& from, const std::string& to,
                          const std::string& place) {
    const CliResult result = run_cli({"study", file(replaced(kSpeedup, from, to))});
    EXPECT_EQ(result.status, 2) << to << result.out;
    EXPECT_NE(result.err.find(place), std::string::npos) << result.err;
  };
  refuse("\"speedup\"", "\"speed\"", "kind");
  refuse("\"speedup\"", "7", "kind");
  refuse("\"planner\": \"mcts\", ", "", "columns[0]");
  refuse(", \"over\": \"dp-allreduce\"", "", "columns[0]");
  refuse(", \"cluster\": \"tag-2x1080ti\"", "", "columns[0]");
  refuse("[1, 400]", "[1]", "columns[2].range");
  refuse("[50, 20, null]", "[50, 20]", "rows[0].values");
  refuse("[50, 20, null]", "[50, 20, \"oom\"]", "rows[0].values[2]");
  refuse("\"iterations\": 24", "\"iterations\": 0", "iterations");
  refuse("\"cluster\": \"tag-testbed\"", "\"cluster\": \"no-such\"", "no-such");
  refuse("\"model\": \"lenet\"", "\"model\": \"no-such\"", "no-such");
  refuse("\"groups\": 6", "\"groups\": 6, \"calibration\": \"no-such\"", "no-such");
}

const char* kPlacements = R"({
  "format": "stratoscope-study", "version": 1, "kind": "placements", "name": "small",
  "source": "nowhere", "cluster": "celeritas",
  "columns": [{"label": "one", "planner": "single-device"},
              {"label": "DP", "planner": "dp-allreduce", "gpus": 4},
              {"label": "same", "planner": "dp-allreduce", "gpus": 4},
              {"label": "Celeritas", "planner": "celeritas", "set": {"variant": "paper"}},
              {"label": "Metis", "planner": "metis", "measure": "planning-time"},
              {"label": "nodes", "measure": "nodes"}, {"label": "merged", "measure": "fused-nodes"},
              {"label": "CCR", "measure": "ccr"}, {"label": "merged CCR", "measure": "fused-ccr"}],
  "rows": [{"label": "AlexNet", "model": "alexnet", "batch": 256,
            "values": [0.1, 0.2, 0.3, 0.1, null, 100, 10, 30, 3]}]})";

TEST_F(SearchStudy, PlacementsAreThePlannersOwn) {
  const Json study = json_of(kPlacements)["studies"][0];
  EXPECT_EQ(study["kind"], "placements");
  const Json& cells = study["rows"][0]["cells"];
  const auto ours = [&](std::size_t column) { return cells[column]["ours"].get<double>(); };
  EXPECT_LT(ours(1), ours(0));  // four GPUs beat one
  EXPECT_GT(ours(3), ours(1));  // without the floor, which would be data parallelism
  EXPECT_EQ(ours(1), ours(2));
  EXPECT_GT(ours(4), 0);
  EXPECT_GT(ours(5), ours(6));  // fusion merges
  EXPECT_GT(ours(7), ours(8));
  const Json alone = json_of(replaced(kPlacements, "\"gpus\": 4}", "\"gpus\": 1}"));
  EXPECT_EQ(alone["studies"][0]["rows"][0]["cells"][1]["ours"], cells[0]["ours"]);
}

TEST_F(SearchStudy, RivalsAreRankedOnTheSameGpus) {
  const Json directions = json_of(kPlacements)["studies"][0]["directions"];
  // one and Celeritas, DP and same, fewer nodes; all in one cluster, nothing is left to compare of
  // the communication
  EXPECT_EQ(directions["compared"], 3);
  ASSERT_GE(directions["differ"].size(), 1u);
  const std::string text = directions["differ"].dump();
  EXPECT_NE(text.find("AlexNet: DP is as good as same, in the paper is ahead of it"),
            std::string::npos)
      << text;
}

TEST_F(SearchStudy, WhatRunsOutOfMemoryIsLast) {
  const char* text = R"({
    "format": "stratoscope-study", "version": 1, "kind": "placements", "name": "small",
    "source": "nowhere", "cluster": "tag-2x1080ti",
    "columns": [{"label": "one", "planner": "single-device"},
                {"label": "DP", "planner": "dp-allreduce"}, {"label": "PS", "planner": "dp-ps"}],
    "rows": [{"label": "VGG", "model": "vgg19", "batch": 200, "values": ["OOM", 2, "OOM"]}]})";
  const CliResult result = run_cli({"study", file(text)});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("VGG, paper: DP < one (OOM) = PS (OOM)"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("< one (OOM)\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("of 2 comparisons"), std::string::npos) << result.out;
}

TEST_F(SearchStudy, ABatchPerGpuGrowsWithThem) {
  const std::string text =
      replaced(kSpeedup, "\"groups\": 6", "\"groups\": 6, \"batch\": \"per-gpu\"");
  const std::string twice = replaced(kSpeedup, "\"model\": \"lenet\", \"batch\": 8",
                                     "\"model\": \"lenet\", \"batch\": 16");
  const auto time = [&](const std::string& study) {
    return json_of(study)["studies"][0]["rows"][1]["cells"][1]["step_time_s"].get<double>();
  };
  EXPECT_EQ(time(text), time(twice));  // on two GPUs
}

#ifdef STRATO_TORCH
const char* kCurves = R"({
  "format": "stratoscope-study", "version": 1, "kind": "placements", "name": "small",
  "source": "nowhere", "cluster": "tag-2x1080ti", "planner": "hdp", "iterations": 30,
  "columns": [{"label": "short", "measure": "curve", "curve": "Best so far"},
              {"label": "long", "measure": "curve", "curve": "Best so far", "iterations": 60},
              {"label": "none", "measure": "curve", "curve": "Hit rate"},
              {"label": "step", "iterations": 60}],
  "rows": [{"label": "LeNet", "model": "lenet", "batch": 64, "values": [-2, -1, 5, 1]}]})";

TEST_F(SearchStudy, CurvesEndWhereThePlannerEnded) {
  const Json study = json_of(kCurves)["studies"][0];
  const Json& cells = study["rows"][0]["cells"];
  EXPECT_GE(cells[1]["ours"].get<double>(), cells[0]["ours"].get<double>());
  EXPECT_FALSE(cells[2].contains("ours") && cells[2]["ours"].is_number());
  EXPECT_GT(cells[3]["ours"].get<double>(), 0);
  EXPECT_EQ(study["directions"]["compared"], 1);  // more is better: short and long only
  const Json all = json_of(kCurves)["studies"][0]["searches"];
  EXPECT_EQ(all.size(), 2u);  // one of 30, one of 60 evaluations
  for (const char* bad : {"\"measure\": \"curve\", \"iterations\": 60",
                          "\"curve\": \"Best so far\", \"iterations\": 60",
                          "\"measure\": \"curve\", \"curve\": \"Best so far\", \"iterations\": 0"})
    expect_refused({"study", file(replaced(kCurves,
                                           "\"measure\": \"curve\", \"curve\": \"Best so far\", "
                                           "\"iterations\": 60",
                                           bad))},
                   {"columns[1]"});
}
#endif

TEST_F(SearchStudy, ASpeedupMayBeOverTheBestOfSome) {
  const auto over = [&](const std::string& names) {
    const std::string text = R"({
      "format": "stratoscope-study", "version": 1, "kind": "speedup", "name": "small",
      "source": "nowhere", "cluster": "tag-2x1080ti",
      "columns": [{"label": "DP", "planner": "dp-allreduce", "over": ")" +
                             names +
                             R"("},
                  {"label": "one", "planner": "single-device", "over": "DP"}],
      "rows": [{"label": "LeNet", "model": "lenet", "batch": 64}]})";
    return json_of(text)["studies"][0]["rows"][0]["cells"][0]["ours"].get<double>();
  };
  const double one = over("one"), ps = over("dp-ps");
  EXPECT_NE(one, ps);
  EXPECT_DOUBLE_EQ(over("one|dp-ps"), std::min(one, ps));
  EXPECT_DOUBLE_EQ(over("dp-ps|one|dp-ps"), std::min(one, ps));
}

const char* kSplits = R"({
  "format": "stratoscope-study", "version": 1, "kind": "splits", "name": "small",
  "source": "nowhere", "cluster": "fastt-8xv100", "gpus": 2,
  "columns": [{"label": "FastT", "planner": "fastt"}],
  "rows": [{"label": "VGG-19", "model": "vgg19", "batch": 64}],
  "ops": [{"label": "conv1_1", "op": "/features/features.0/Conv", "milliseconds": 2,
           "thousand_parameters": 1.792, "split": true}]})";

TEST_F(SearchStudy, SplitOpsAreTold) {
  const Json study = json_of(kSplits)["studies"][0];
  const Json& op = study["rows"][0];
  EXPECT_EQ(op["op"], "conv1_1");
  EXPECT_DOUBLE_EQ(op["thousand_parameters"]["ours"].get<double>(), 1.792);  // 3 * 3 * 3 * 64 + 64
  EXPECT_GT(op["milliseconds"]["ours"].get<double>(), 0);
  EXPECT_TRUE(op["split"]["ours"].is_boolean());
  EXPECT_EQ(study["directions"]["compared"], 1);
}

TEST_F(SearchStudy, BadPlacementsAndSplitsAreRefusedWithTheirPlace) {
  const auto refuse = [&](const char* study, const std::string& from, const std::string& to,
                          const std::string& place) {
    const CliResult result = run_cli({"study", file(replaced(study, from, to))});
    EXPECT_EQ(result.status, 2) << to << result.out;
    EXPECT_NE(result.err.find(place), std::string::npos) << result.err;
  };
  refuse(kPlacements, "\"planning-time\"", "\"time\"", "columns[4].measure");
  refuse(kPlacements, "\"planner\": \"metis\", ", "", "columns[4]");
  refuse(kPlacements, "\"gpus\": 4", "\"gpus\": 0", "columns[1].gpus");
  refuse(kPlacements, "\"gpus\": 4", "\"gpus\": 5", "celeritas");
  refuse(kPlacements, "\"batch\": 256", "\"batch\": 256, \"gpus\": -1", "rows[0].gpus");
  refuse(kPlacements, "\"cluster\"", "\"batch\": \"each\", \"cluster\"", "batch");
  refuse(kPlacements, "\"cluster\"", "\"floor\": 1, \"cluster\"", "floor");
  refuse(kSplits, "features.0/Conv", "no/such", "no/such");
  refuse(kSplits, "\"split\": true", "\"split\": 1", "ops[0].split");
  refuse(kSplits, "\"milliseconds\": 2", "\"milliseconds\": -2", "ops[0].milliseconds");
}

TEST_F(SearchStudy, CtrlCPrintsWhatIsDone) {
  const std::string path = file(kSpeedup);
  OnTerminal terminal({"study", path, "--iterations", "1000000"});
  ASSERT_TRUE(terminal.wait_for_text("of 1000000", 1));
  EXPECT_EQ(terminal.interrupt(), 0);
}

}  // namespace
}  // namespace strato
