// Jobs under a Slurm of two nodes that the test starts on this machine (see cluster).
#include <signal.h>
#include <stdlib.h>

#include "core/io/file.h"
#include "core/launch/job/job_result.h"
#include "core/launch/job/run_files.h"
#include "tests/free_port.h"
#include "tests/message_of.h"
#include "tests/plugins/launchers/launcher_test.h"
#include "tests/plugins/launchers/service.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class Slurm : public LauncherTest {
 protected:
  static void SetUpTestSuite() {
    cluster = std::make_unique<ClusterService>("slurm/cluster", 3);
    ::setenv("SLURM_CONF", (cluster->folder / "slurm.conf").c_str(), 1);
  }
  static void TearDownTestSuite() { cluster.reset(); }
  Slurm() : LauncherTest("slurm", 2) {}
  void SetUp() override {
    if (cluster->service.said().starts_with("not installed"))
      GTEST_SKIP() << cluster->service.said();
    ASSERT_TRUE(cluster->service.ready()) << cluster->service.said();
  }
  LaunchRequest on_two_nodes() const {
    LaunchRequest two = request();
    two.machines = {5, 3};
    return two;
  }

  static inline std::unique_ptr<ClusterService> cluster;
};

TEST_F(Slurm, RunsAJobOnTwoNodes) {
  const auto launched = launch(on_two_nodes());
  const auto events = events_of(*launched);
  ASSERT_EQ(launched->state(), JobState::Finished) << launched->problem();
  EXPECT_EQ(launched->problem(), "");
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events.front().kind, JobEvent::Kind::Started);
  EXPECT_EQ(events.back().kind, JobEvent::Kind::Finished);
  EXPECT_EQ(read_result(folder.path()).step_times.size(), 3u);
  EXPECT_EQ(read_file(folder / "slurm-hosts.txt"), "one\ntwo\n");
  EXPECT_TRUE(fs::exists(folder / "log-1.txt"));
  expect_none_left();
}

TEST_F(Slurm, MachinesShareANodeWhenThereAreFewer) {
  LaunchRequest one = on_two_nodes();
  one.settings = {{"nodes", "1"}, {"partition", "main"}, {"time", "5"}, {"cpus-per-task", "1"}};
  const auto launched = launch(one);
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Finished) << launched->problem();
  EXPECT_EQ(find_meeting(folder.path())->host, "127.0.0.1");
}

TEST_F(Slurm, CancelEndsEveryRank) {
  endless();
  const auto launched = launch(on_two_nodes());
  wait_for(*launched, JobEvent::Kind::Step);
  EXPECT_EQ(workers_of(folder.path()).size(), 2u);
  launched->cancel();
  EXPECT_EQ(launched->state(), JobState::Cancelled);
  EXPECT_EQ(launched->problem(), "");
  expect_none_left();
  launched->cancel();
}

TEST_F(Slurm, AJobThatWaitsIsCancelledToo) {
  endless();
  LaunchRequest whole = on_two_nodes();
  whole.settings = {{"exclusive", "yes"}};
  const auto first = launch(whole);
  wait_for(*first, JobEvent::Kind::Started);
  TemporaryFolder other;
  stage_job(other.path(), job);
  whole.folder = other.path();
  const auto second = launcher->launch(whole);
  EXPECT_EQ(second->state(), JobState::Waiting);
  second->cancel();
  EXPECT_EQ(second->state(), JobState::Cancelled);
  first->cancel();
}

TEST_F(Slurm, GoesOnWithoutTheOneThatLaunchedItAndIsAttachedAgain) {
  slow(Nanos(1'000'000));
  job.options.steps = 200;
  auto launched = launch(on_two_nodes());
  const std::string id = launched->id();
  wait_for(*launched, JobEvent::Kind::Started);
  launched.reset();
  const auto again = plugins.launcher("slurm")->attach(id, folder.path());
  EXPECT_EQ(again->id(), id);
  const auto events = events_of(*again);
  EXPECT_EQ(again->state(), JobState::Finished) << again->problem();
  ASSERT_EQ(events.size(), 202u);
  EXPECT_EQ(events.front().kind, JobEvent::Kind::Started);
  // Also when it has ended.
  const auto ended = launcher->attach(id, folder.path());
  EXPECT_EQ(events_of(*ended).size(), 202u);
  EXPECT_EQ(ended->state(), JobState::Finished);
}

TEST_F(Slurm, ARankThatIsKilledIsNamed) {
  endless();
  const auto launched = launch(on_two_nodes());
  wait_for(*launched, JobEvent::Kind::Step);
  ::kill(workers_of(folder.path()).at(1), SIGKILL);
  const auto start = std::chrono::steady_clock::now();
  events_of(*launched);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_EQ(launched->state(), JobState::Failed);
  EXPECT_EQ(launched->problem(), "rank 1 on two: Killed");
  expect_none_left();
}

TEST_F(Slurm, ARankThatCannotReadItsProgramIsNamed) {
  stage_job(folder.path(), job);
  write_file(folder / "rank-1.bin", "nonsense");
  const auto launched = launcher->launch(on_two_nodes());
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Failed);
  EXPECT_EQ(launched->problem().find("rank 1: "), 0u) << launched->problem();
  EXPECT_NE(launched->problem().find("rank-1.bin"), std::string::npos) << launched->problem();
}

TEST_F(Slurm, WrongSettingsAreRefused) {
  const auto refusal = [&](const std::string& name, const std::string& value) {
    LaunchRequest wrong = request();
    wrong.settings[name] = value;
    return message_of([&] { launch(wrong); });
  };
  EXPECT_NE(refusal("partition", "nowhere").find("sbatch refuses the job: "), std::string::npos);
  EXPECT_NE(refusal("partition", "nowhere").find("Invalid partition"), std::string::npos);
  EXPECT_NE(refusal("partition", "--wrap=id").find("has no value"), std::string::npos);
  EXPECT_NE(refusal("time", "x;id").find("sbatch refuses the job: "), std::string::npos);
  EXPECT_NE(refusal("nodes", "2").find("the plan has 1 machines"), std::string::npos);
  EXPECT_NE(refusal("nodes", "0").find("no positive number"), std::string::npos);
  EXPECT_NE(refusal("gpus-per-task", "two").find("no positive number"), std::string::npos);
  EXPECT_NE(refusal("exclusive", "perhaps").find("neither yes nor no"), std::string::npos);
  EXPECT_NE(refusal("cores", "1").find("no setting of the launcher slurm"), std::string::npos);
}

TEST_F(Slurm, OnlyAJobOfTheFolderIsAttached) {
  const auto refusal = [&](const std::string& id) {
    return message_of([&] { launcher->attach(id, folder.path()); });
  };
  EXPECT_NE(refusal("slurm:1").find("is not the folder of slurm:1"), std::string::npos);
  EXPECT_NE(refusal("slurm:").find("is no job of Slurm"), std::string::npos);
  EXPECT_NE(refusal("slurm:1;id").find("is no job of Slurm"), std::string::npos);
  EXPECT_NE(refusal("local:1").find("is no job of Slurm"), std::string::npos);
}

}  // namespace
}  // namespace strato
