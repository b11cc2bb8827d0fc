// Recorded traces on the command line: a simulated step that leaves as a recording and comes back.
#include <gtest/gtest.h>

#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/app/cli/run_cli.h"
#include "tests/core/store/temporary_folder.h"

namespace strato {
namespace {

class RecordedStep : public testing::Test {
 protected:
  RecordedStep() {
    json_of(run_cli({"plan", "--graph", "lenet", "--batch", "64", "--cluster", "tag-2x1080ti",
                     "--planner", "dp-allreduce", "-o", plan_, "--json"}));
    step_seconds_ = json_of(run_cli({"simulate", "--plan", plan_, "--json"}))["step_time_s"];
    const CliResult exported =
        run_cli({"export", "--plan", plan_, "--format", "kineto", "-o", traces_});
    EXPECT_EQ(exported.status, 0) << exported.err;
  }

  TemporaryFolder folder_;
  const std::string plan_ = folder_ / "plan.json", traces_ = folder_ / "traces";
  double step_seconds_ = 0;
};

TEST_F(RecordedStep, ComesBackWithItsOwnFigures) {
  const Json read = json_of(run_cli({"inspect", traces_, "--json"}));
  ASSERT_EQ(read["ranks"].size(), 2U);
  for (const Json& rank : read["ranks"]) {
    EXPECT_EQ(rank["format"], "Kineto");
    EXPECT_NEAR(rank["steps"]["typical_ns"].get<double>(), step_seconds_ * 1e9, 1);
    EXPECT_GT(rank["breakdown"]["compute_ns"], 0);
    EXPECT_GT(rank["breakdown"]["busy_ns"]["communication"], 0);
  }
}

TEST_F(RecordedStep, IsToldInWords) {
  const CliResult said = run_cli({"inspect", traces_});
  EXPECT_EQ(said.status, 0) << said.err;
  for (const char* part : {"Kineto of 2 ranks", "AllReduce", "data parallelism", "computing"})
    EXPECT_NE(said.out.find(part), std::string::npos) << part << "\n" << said.out;
}

TEST_F(RecordedStep, ThatWasCutIsUsedUpToThere) {
  for (const auto& entry : std::filesystem::directory_iterator(traces_)) {
    const std::string whole = read_file(entry.path());
    const std::string cut = folder_ / "cut.json";
    write_file(cut, whole.substr(0, whole.size() * 2 / 3));
    const CliResult said = run_cli({"inspect", cut});
    EXPECT_EQ(said.status, 0) << said.err;
    EXPECT_NE(said.out.find("ends inside an event"), std::string::npos) << said.out;
    return;
  }
  FAIL() << "nothing was exported";
}

TEST(RecordedTraces, FoldersOfNoneAreRefusedInWords) {
  const TemporaryFolder folder;
  write_file(folder / "notes.txt", "no trace");
  expect_refused({"inspect", folder.path().string()},
                 {folder.path().string() + ": is a folder without a trace"});
}

}  // namespace
}  // namespace strato
