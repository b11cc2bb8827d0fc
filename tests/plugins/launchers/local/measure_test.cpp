// Measurement jobs on real processes: what they leave, and that no process is left.
#include <signal.h>

#include <thread>

#include "core/launch/measure/measure_job.h"
#include "tests/message_of.h"
#include "tests/paths.h"
#include "tests/plugins/launchers/launcher_test.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

class MeasureLocally : public ::testing::Test {
 protected:
  static constexpr int kRanks = 3;

  MeasureLocally() : job(make_measure_job(*toy::cluster(1, kRanks), "toy", {}, {})) {
    job.options.budget = 60s;
    job.options.largest = Bytes(1 << 13);
  }
  MeasureRun measure(const std::function<void(const MeasureEvent&)>& progress) {
    return measure_on(*launcher, job, folder.path(), STRATO_WORKER, {}, stop.get_token(), progress);
  }
  void endless() {
    job.options.budget = 3600s;
    job.options.largest = Bytes(std::int64_t{1} << 40);
  }
  void expect_none_left() { EXPECT_TRUE(workers_of(folder.path()).empty()); }

  TemporaryFolder folder;
  PluginRegistry plugins{{std::filesystem::path(kBuildFolder) / "plugins"}};
  std::unique_ptr<Launcher> launcher = plugins.launcher("local");
  MeasureJob job;
  std::stop_source stop;
};

TEST_F(MeasureLocally, MeasuresTheCommunicationOfItsRanks) {
  std::vector<MeasureEvent> events;
  const MeasureRun run = measure([&](const MeasureEvent& event) { events.push_back(event); });
  ASSERT_EQ(run.state, JobState::Finished) << run.problem;
  ASSERT_EQ(events.size(), job.probes.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].done, static_cast<std::int64_t>(i));
    EXPECT_EQ(events[i].of, static_cast<std::int64_t>(job.probes.size()));
    EXPECT_LE(events[i].left, job.options.budget);
  }
  EXPECT_EQ(run.result.profile.transfers.size(), 6u);
  EXPECT_EQ(run.result.profile.collectives.size(), 3u);
  for (const TransferProfile& pair : run.result.profile.transfers) {
    EXPECT_EQ(pair.measurements.front().bytes, Bytes(1024));
    EXPECT_GE(pair.measurements.size(), 2u);
  }
  EXPECT_LE(run.result.seconds, 60);
  expect_none_left();
}

TEST_F(MeasureLocally, ARankThatIsKilledIsNamed) {
  endless();
  bool killed = false;
  const MeasureRun run = measure([&](const MeasureEvent&) {
    const auto workers = workers_of(folder.path());
    if (killed || !workers.contains(1)) return;
    killed = ::kill(workers.at(1), SIGKILL) == 0;
  });
  EXPECT_TRUE(killed);
  EXPECT_EQ(run.state, JobState::Failed);
  EXPECT_EQ(run.problem.find("rank 1 was killed by signal 9"), 0u) << run.problem;
  EXPECT_TRUE(run.result.profile.empty());
  expect_none_left();
}

TEST_F(MeasureLocally, AStopEndsEveryRank) {
  endless();
  const MeasureRun run = measure([&](const MeasureEvent&) { stop.request_stop(); });
  EXPECT_EQ(run.state, JobState::Cancelled);
  EXPECT_EQ(run.problem, "");
  expect_none_left();
}

TEST_F(MeasureLocally, AnUnknownTransportIsNamed) {
  job.options.transport = "pigeon";
  const MeasureRun run = measure([](const MeasureEvent&) {});
  EXPECT_EQ(run.state, JobState::Failed);
  EXPECT_NE(run.problem.find("pigeon"), std::string::npos) << run.problem;
  expect_none_left();
}

TEST_F(MeasureLocally, AnEngineThatMeasuresNothingIsNamed) {
  job = make_measure_job(*toy::cluster(1, kRanks), "toy", {toy::training_chain(12, 2, 8)},
                         job.options);
  job.options.engine = "replay";
  const MeasureRun run = measure([](const MeasureEvent&) {});
  EXPECT_EQ(run.state, JobState::Failed);
  EXPECT_NE(run.problem.find("measures no ops"), std::string::npos) << run.problem;
  expect_none_left();
}

TEST_F(MeasureLocally, ADamagedFolderNamesTheRankAndTheFile) {
  stage_measure_job(folder.path(), job);
  std::filesystem::resize_file(folder / "secret", 10);
  const auto launched = launcher->launch({folder.path(), STRATO_WORKER, kRanks, {0, 0, 0}, {}});
  const JobEnd run = follow(*launched, {}, [](const std::string&) {});
  EXPECT_EQ(run.state, JobState::Failed);
  EXPECT_EQ(run.problem.find("rank "), 0u) << run.problem;
  EXPECT_NE(run.problem.find("secret"), std::string::npos) << run.problem;
  expect_none_left();
}

}  // namespace
}  // namespace strato
