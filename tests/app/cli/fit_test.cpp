// fit and check-throughput, as a person and a script use them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

using Words = std::vector<std::string>;

Words with(Words all, const Words& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

const Words kTooMuch = {"fit", "gpt2_medium", "tag-2x1080ti", "--batch",
                        "16",  "--set-dim",   "sequence=512"};

TEST(Fit, SaysWhatMakesItFitAndWritesThat) {
  const TemporaryFolder folder;
  const std::string plan = folder / "fits.json";
  const Json said = json_of(run_cli(with(kTooMuch, {"-o", plan, "--json"})), 1);
  EXPECT_FALSE(said["feasible"]);
  ASSERT_FALSE(said["changes"].empty());
  const Json& first = said["changes"][0];
  EXPECT_TRUE(first["feasible"]);
  EXPECT_LE(first["peak_bytes"], said["memory"][0]["capacity_bytes"]);
  for (const Json& devices : said["memory"]) {
    std::int64_t all = 0;
    for (const auto& [cause, bytes] : devices["bytes"].items()) all += bytes.get<std::int64_t>();
    EXPECT_EQ(devices["peak_bytes"], all);
  }
  // It is the plan that was promised, and it fits with all of the memory, too.
  const Json simulated = json_of(run_cli({"simulate", "--plan", plan, "--json"}));
  EXPECT_EQ(simulated["step_time_s"], first["step_time_s"]);
  const Json again = json_of(run_cli({"fit", "--plan", plan, "--json"}));
  EXPECT_TRUE(again["feasible"]);
}

TEST(Fit, TellsLayersOnceAndInWords) {
  const CliResult said = run_cli(kTooMuch);
  EXPECT_EQ(said.status, 1);
  for (const char* part : {"does not fit", "makes it fit", "optimizer", "each", "backward pass"})
    EXPECT_NE(said.out.find(part), std::string::npos) << part << "\n" << said.out;
}

TEST(Fit, LeavesWhatItIsToldTo) {
  const Words roomy = {"fit", "lenet", "tag-2x1080ti", "--batch", "8", "--json"};
  EXPECT_TRUE(json_of(run_cli(roomy))["feasible"]);
  const auto capacity = [&](const char* allowance) {
    const Json said = json_of(run_cli(with(roomy, {"--allowance", allowance})));
    return said["memory"][0]["capacity_bytes"].get<double>();
  };
  EXPECT_NEAR(capacity("0.5") / capacity("0"), 0.5, 1e-6);
}

TEST(Fit, RefusesWhatItCannotAnswer) {
  const TemporaryFolder folder;
  const std::string plan = folder / "plan.json";
  json_of(run_cli({"plan", "--graph", "lenet", "--batch", "8", "--cluster", "tag-2x1080ti",
                   "--planner", "dp-allreduce", "-o", plan, "--json"}));
  expect_refused({"fit", "--plan", plan, "-o", plan}, {plan});  // it would be lost
  expect_refused({"fit"}, {"is given no model and cluster"});
  expect_refused({"fit", "lenet"}, {"is given no model and cluster"});
  expect_refused({"fit", "lenet", "gdp", "--batch", "8", "--planner", "dreams"}, {"dreams"});
}

const char* const kScript =
    "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 1 "
    "--global-batch-size 16 --use-distributed-optimizer\n";

class Throughput : public testing::Test {
 protected:
  Throughput() { write_file(folder_ / "run.sh", kScript); }
  Words asked(const std::string& measured) const {
    return {"check-throughput", folder_ / "run.sh", "--graph",    "gpt2_medium",
            "--cluster",        "h100-2x8",         "--batch",    "16",
            "--set-dim",        "sequence=512",     "--measured", measured};
  }
  Json answer(const std::string& measured) const {
    return json_of(run_cli(with(asked(measured), {"--json"})));
  }
  TemporaryFolder folder_;
};

TEST_F(Throughput, AsPredictedIsAsExpectedAndTwiceIsSlower) {
  const double predicted = answer("1 s")["predicted_s"];
  const Json same = answer(fmt::format("{} s", predicted));
  EXPECT_EQ(same["verdict"], "as expected");
  EXPECT_EQ(same["framework"], "Megatron-LM");
  EXPECT_GT(same["published"].size(), 5U);
  const Json slow = answer(fmt::format("{} s", 3 * predicted));
  EXPECT_NE(slow["verdict"].get<std::string>().find("slower than expected"), std::string::npos);
  ASSERT_FALSE(slow["causes"].empty());
  double before = 1e9;
  for (const Json& cause : slow["causes"]) {
    EXPECT_GT(cause["step_time_s"], predicted);
    EXPECT_LE(cause["step_time_s"], before);
    before = cause["step_time_s"];
  }
}

TEST_F(Throughput, FiguresOfOneStepAgree) {
  const double seconds = answer("500 ms")["measured_s"];
  EXPECT_DOUBLE_EQ(seconds, 0.5);
  const double tokens = 16 * 512 / 0.5;
  EXPECT_NEAR(answer(fmt::format("{} tokens/s", tokens))["measured_s"], 0.5, 1e-9);
  EXPECT_NEAR(answer(fmt::format("{} tokens/s/GPU", tokens / 16))["measured_s"], 0.5, 1e-9);
  EXPECT_NEAR(answer("32 samples/s")["measured_s"], 0.5, 1e-9);
}

TEST_F(Throughput, RefusesOtherTexts) {
  for (const char* text : {"fast", "5 parsecs", "7", "-3 s", "0 s", "nan s", "1e400 s", "", "s"})
    expect_refused(asked(text), {"--measured", "write seconds"});
  expect_refused({"check-throughput", folder_ / "run.sh", "--measured", "1 s"},
                 {"is given no model and cluster"});
}

}  // namespace
}  // namespace strato
