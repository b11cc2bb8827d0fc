// Jobs that mpirun starts: on this machine, and over SSH on two addresses that the test makes hosts
// of their own (see hosts).
#include <signal.h>

#include "core/io/file.h"
#include "core/launch/job/job_result.h"
#include "core/launch/job/run_files.h"
#include "core/launch/process/process.h"
#include "tests/free_port.h"
#include "tests/message_of.h"
#include "tests/plugins/launchers/launcher_test.h"
#include "tests/plugins/launchers/service.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

constexpr int kRanks = 2;

std::string problem_of_mpirun() {
  try {
    return run_program({"mpirun", "--version"}, 30s).problem;
  } catch (const InputError& error) {
    return error.what();
  }
}

class Mpi : public LauncherTest {
 protected:
  Mpi() : LauncherTest("mpi", kRanks) {}
  void SetUp() override {
    if (const std::string problem = problem_of_mpirun(); !problem.empty())
      GTEST_SKIP() << problem << " (package openmpi-bin)";
  }
};

TEST_F(Mpi, RunsAJobToItsEnd) {
  const auto launched = launch();
  const auto events = events_of(*launched);
  ASSERT_EQ(launched->state(), JobState::Finished) << launched->problem();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events.front().kind, JobEvent::Kind::Started);
  EXPECT_EQ(events.back().kind, JobEvent::Kind::Finished);
  EXPECT_EQ(read_result(folder.path()).step_times.size(), 3u);
  EXPECT_EQ(find_meeting(folder.path())->host, "127.0.0.1");
  expect_none_left();
}

TEST_F(Mpi, ThisMachineMayBeAHostOfTheFile) {
  TemporaryFolder other;
  write_file(other / "hosts.txt", "localhost slots=1 # this one\n127.0.0.1\n");
  LaunchRequest local = request();
  local.machines = {0, 1};
  local.settings = {{"hostfile", (other / "hosts.txt").string()}, {"interface", "lo"}};
  const auto launched = launch(local);
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Finished) << launched->problem();
  EXPECT_EQ(find_meeting(folder.path())->host, "127.0.0.1");
}

TEST_F(Mpi, CancelEndsEveryRank) {
  endless();
  const auto launched = launch();
  wait_for(*launched, JobEvent::Kind::Step);
  EXPECT_EQ(workers_of(folder.path()).size(), 2u);
  launched->cancel();
  EXPECT_EQ(launched->state(), JobState::Cancelled);
  EXPECT_EQ(launched->problem(), "");
  expect_none_left();
}

TEST_F(Mpi, ARankThatIsKilledIsNamed) {
  endless();
  for (int victim = 0; victim < kRanks; ++victim) {
    const auto launched = launch();
    wait_for(*launched, JobEvent::Kind::Step);
    ::kill(workers_of(folder.path()).at(victim), SIGKILL);
    const auto start = std::chrono::steady_clock::now();
    events_of(*launched);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    EXPECT_EQ(launched->state(), JobState::Failed);
    EXPECT_EQ(launched->problem().find("rank " + std::to_string(victim) + " on "), 0u)
        << launched->problem();
    EXPECT_NE(launched->problem().find("signal 9"), std::string::npos) << launched->problem();
    expect_none_left();
  }
}

TEST_F(Mpi, ARankThatCannotReadItsProgramIsNamed) {
  stage_job(folder.path(), job);
  write_file(folder / "rank-1.bin", "nonsense");
  const auto launched = launcher->launch(request());
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Failed);
  EXPECT_EQ(launched->problem().find("rank 1: "), 0u) << launched->problem();
}

TEST_F(Mpi, WrongSettingsAreRefused) {
  const auto refusal = [&](const std::string& name, const std::string& value) {
    LaunchRequest wrong = request();
    wrong.settings[name] = value;
    return message_of([&] { launch(wrong); });
  };
  TemporaryFolder other;
  write_file(other / "empty.txt", "# nobody\n\n");
  EXPECT_NE(refusal("hostfile", (other / "empty.txt").string()).find("names no host"),
            std::string::npos);
  EXPECT_NE(refusal("hostfile", "/nonexistent/hosts").find("/nonexistent/hosts"),
            std::string::npos);
  EXPECT_NE(refusal("partition", "gpu").find("no setting of the launcher mpi"), std::string::npos);
  EXPECT_NE(
      message_of([&] { launcher->attach("mpi:1", folder.path()); }).find("cannot be attached to"),
      std::string::npos);
}

class MpiOverSsh : public Mpi {
 protected:
  static void SetUpTestSuite() { hosts = std::make_unique<ClusterService>("mpi/hosts", 1); }
  static void TearDownTestSuite() { hosts.reset(); }
  void SetUp() override {
    if (!hosts->service.ready()) GTEST_SKIP() << hosts->service.said();
  }
  LaunchRequest on_two_hosts() const {
    LaunchRequest two = request();
    two.machines = {0, 1};
    two.settings = {{"hostfile", (hosts->folder / "hosts.txt").string()},
                    {"plm_rsh_agent", "ssh -F " + (hosts->folder / "ssh_config").string()}};
    return two;
  }

  static inline std::unique_ptr<ClusterService> hosts;
};

TEST_F(MpiOverSsh, RunsAJobOnTwoHosts) {
  const auto launched = launch(on_two_hosts());
  const auto events = events_of(*launched);
  ASSERT_EQ(launched->state(), JobState::Finished) << launched->problem();
  EXPECT_EQ(events.size(), 5u);
  EXPECT_EQ(read_file(folder / "mpi-hosts.txt"), "127.0.0.2\n127.0.0.3\n");
  expect_none_left();
}

TEST_F(MpiOverSsh, CancelEndsEveryRank) {
  endless();
  const auto launched = launch(on_two_hosts());
  wait_for(*launched, JobEvent::Kind::Step);
  launched->cancel();
  EXPECT_EQ(launched->state(), JobState::Cancelled);
  expect_none_left();
}

TEST_F(MpiOverSsh, AHostThatDoesNotAnswerIsTold) {
  TemporaryFolder other;
  write_file(other / "hosts.txt", "127.0.0.4\n");
  LaunchRequest wrong = on_two_hosts();
  wrong.settings["hostfile"] = (other / "hosts.txt").string();
  const auto launched = launch(wrong);
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Failed);
  EXPECT_FALSE(launched->problem().empty());
}

}  // namespace
}  // namespace strato
