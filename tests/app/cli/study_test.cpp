// The study command: tables, summaries, the halves, what is refused, and a fit from end to end.
#include <gtest/gtest.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/app/cli/study_fixture.h"

namespace strato {
namespace {

const char* kSmall = R"({
  "format": "stratoscope-study", "version": 1, "name": "small", "source": "nowhere",
  "calibration": "standard", "unit": "samples/s", "batch": "global",
  "columns": [{"label": "one", "cluster": "fastt-8xv100", "gpus_per_machine": 1},
              {"label": "two", "cluster": "fastt-8xv100", "gpus_per_machine": 2},
              {"label": "both", "cluster": "fastt-2x8xv100", "gpus_per_machine": 1}],
  "rows": [{"label": "LeNet", "model": "lenet", "batch": 64, "exchange": "host",
            "values": [9000, 15000, null]},
           {"label": "AlexNet", "model": "alexnet", "batch": 8, "exchange": "allreduce",
            "values": [400, 500, "OOM"]},
           {"label": "AlexNet", "model": "alexnet", "batch": 8, "exchange": "ps",
            "values": [400, 500, 450]}]
})";

class StudyCommand : public StudyFixture {};

TEST_F(StudyCommand, HalvesAreAChessBoard) {
  const CliResult result = run_cli({"study", file(kSmall), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  const Json& cells = json["studies"][0]["cells"];
  ASSERT_EQ(cells.size(), 8u);  // one is null
  const std::vector<std::string> uses = {"calibrate", "check",     "check", "calibrate",
                                         "check",     "calibrate", "check", "calibrate"};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    EXPECT_EQ(cells[i]["use"], uses[i]) << i;
    EXPECT_GT(cells[i]["ours"].get<double>(), 0) << i;
  }
  EXPECT_EQ(json["summary"]["calibrate"]["cells"], 4);
  EXPECT_EQ(json["summary"]["check"]["cells"], 3);
  EXPECT_EQ(json["summary"]["check"]["memory_cells"], 4);
  EXPECT_EQ(json["summary"]["check"]["memory_right"], 3);  // nothing runs out here
}

TEST_F(StudyCommand, TextHasEveryCellAndASummary) {
  const CliResult result = run_cli({"study", file(kSmall)});
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* part : {"dp-host", "dp-allreduce", "dp-ps", "OOM", "check ", "calibrate ",
                           "median |error|", "rank correlation"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
}

TEST_F(StudyCommand, BadFilesAreRefusedWithTheirPlace) {
  const auto refuse = [&](const std::string& from, const std::string& to,
                          const std::string& place) {
    const CliResult result = run_cli({"study", file(replaced(kSmall, from, to))});
    EXPECT_EQ(result.status, 2) << to << result.out;
    EXPECT_NE(result.err.find(place), std::string::npos) << result.err;
  };
  refuse("samples/s", "samples", "unit");
  refuse("\"global\"", "\"mine\"", "batch");
  refuse("9000", "-1", "rows[0].values[0]");
  refuse("9000", "\"oom\"", "rows[0].values[0]");
  refuse("9000", "1e-300", "rows[0].values[0]");
  refuse("9000", "1e300", "rows[0].values[0]");
  refuse("9000,", "", "rows[0].values");
  refuse("\"host\"", "\"hosts\"", "rows[0].exchange");
  refuse("\"ps\"", "\"allreduce\"", "rows[2]: \"AlexNet\" is there twice");
  refuse("\"batch\": 64", "\"batch\": 0", "rows[0].batch");
  refuse("\"gpus_per_machine\": 2", "\"gpus_per_machine\": 9", "column \"two\"");
  refuse("\"cluster\": \"fastt-8xv100\"", "\"cluster\": \"no-such\"", "study.json: no-such");
  refuse("\"model\": \"lenet\"", "\"model\": \"no-such\"", "study.json: no-such");
  refuse("\"standard\"", "\"no-such\"", "no-such");
}

TEST_F(StudyCommand, AHalfWithoutCellsIsNotPraised) {
  std::string text = replaced(kSmall, "[9000, 15000, null]", "[9000, null, null]");
  text = replaced(text, "[400, 500, \"OOM\"]", "[null, null, null]");
  const std::string one = file(replaced(text, "[400, 500, 450]", "[null, null, null]"));
  const CliResult result = run_cli({"study", one});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("check        0 cells\n"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("rank correlation"), std::string::npos) << result.out;
  const Json summary = Json::parse(run_cli({"study", one, "--json"}).out)["summary"];
  EXPECT_EQ(summary["check"]["cells"], 0);
  EXPECT_TRUE(summary["check"]["median_error"].is_null());
  EXPECT_TRUE(summary["check"]["rank_correlation"].is_null());
  EXPECT_TRUE(summary["calibrate"]["median_error"].is_number());
}

TEST_F(StudyCommand, FitsAreTheSameEveryTimeAndNeverWorseThanTheStart) {
  const std::string small = file(kSmall);
  const std::string one = folder_ / "one.json", two = folder_ / "two.json";
  const CliResult first = run_cli({"study", small, "--json", "--calibrate", one});
  ASSERT_EQ(first.status, 0) << first.err;
  ASSERT_EQ(run_cli({"study", small, "--json", "--calibrate", two}).status, 0);
  EXPECT_EQ(replaced(read_file(one), "\"one\"", "\"two\""), read_file(two));
  const CliResult again = run_cli({"study", small, "--json", "--calibration", one});
  ASSERT_EQ(again.status, 0) << again.err;
  const auto summary = [](const CliResult& result) { return Json::parse(result.out)["summary"]; };
  EXPECT_EQ(summary(first), summary(again));
  const CliResult before = run_cli({"study", small, "--json"});
  EXPECT_LE(summary(first)["calibrate"]["median_error"].get<double>(),
            summary(before)["calibrate"]["median_error"].get<double>() + 0.05);
}

// What the README says of the bundled studies: the half that was not fitted.
TEST_F(StudyCommand, BundledTablesAreMetOnTheCellsThatWereNotFitted) {
  const CliResult result = run_cli({"study", "fastt-table1", "fastt-table2", "fastt-table3",
                                    "tag-table5", "--no-search", "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = Json::parse(result.out);
  const Json& check = json["summary"]["check"];
  EXPECT_EQ(json["studies"].size(), 4u);
  EXPECT_EQ(check["cells"], 48);
  EXPECT_LE(check["median_error"].get<double>(), 0.15);
  EXPECT_LE(check["percentile_90_error"].get<double>(), 0.40);
  EXPECT_GE(check["rank_correlation"].get<double>(), 0.9);
}

}  // namespace
}  // namespace strato
