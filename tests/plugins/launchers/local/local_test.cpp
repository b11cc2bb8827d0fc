// Jobs on real processes: what is told, and that no process is left whatever happens to a rank.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/launch/job/job_result.h"
#include "core/launch/job/run_files.h"
#include "tests/message_of.h"
#include "tests/plugins/launchers/launcher_test.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int kRanks = 3;

class Local : public LauncherTest {
 protected:
  Local() : LauncherTest("local", kRanks) {}
};

TEST_F(Local, RunsAJobToItsEndAndLeavesItsResult) {
  const auto launched = launch();
  const auto events = events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Finished) << launched->problem();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events.front().kind, JobEvent::Kind::Started);
  EXPECT_EQ(events[3].step, 3);
  EXPECT_EQ(events.back().kind, JobEvent::Kind::Finished);
  const JobResult result = read_result(folder.path());
  EXPECT_EQ(result.step_times.size(), 3u);
  EXPECT_EQ(result.peaks.size(), 3u);
  for (const MeasuredTask& task : result.tasks) {
    EXPECT_GE(task.start.value, 0);
    EXPECT_GE(task.end, task.start);
  }
  expect_none_left();
}

// An instruction that follows another one directly makes up for up to 20 us by which that one was
// late (plugins/engines/replay); 1 us for clocks that drift apart.
TEST_F(Local, ReplayedTasksTakeAsLongAsTheyWereSimulated) {
  slow(Nanos(3'000'000));
  const auto launched = launch();
  events_of(*launched);
  ASSERT_EQ(launched->state(), JobState::Finished) << launched->problem();
  std::size_t computed = 0;
  for (const MeasuredTask& task : read_result(folder.path()).tasks) {
    for (const RankProgram& rank : job.programs.ranks) {
      if (rank.rank != task.rank) continue;
      for (const Instruction& instruction : rank.instructions) {
        if (instruction.task != task.task || instruction.kind != InstructionKind::Compute) continue;
        ++computed;
        EXPECT_GE((task.end - task.start).value, 3'000'000 - 21'000);
      }
    }
  }
  EXPECT_GT(computed, 0u);
}

// Before the ranks have met, and at any time while they run.
TEST_F(Local, ARankThatIsKilledIsNamed) {
  endless();
  for (int round = 0; round < 6; ++round) {
    const int victim = round % kRanks;
    const auto launched = launch();
    if (round >= 2) wait_for(*launched, JobEvent::Kind::Started);
    if (round >= 4) wait_for(*launched, JobEvent::Kind::Step);
    std::map<int, pid_t> workers;
    while (!workers.contains(victim)) workers = workers_of(folder.path());
    ::kill(workers[victim], SIGKILL);
    const auto start = std::chrono::steady_clock::now();
    events_of(*launched);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    EXPECT_EQ(launched->state(), JobState::Failed);
    EXPECT_EQ(
        launched->problem().find("rank " + std::to_string(victim) + " was killed by signal 9"), 0u)
        << launched->problem();
    expect_none_left();
  }
}

TEST_F(Local, ARankThatHangsIsNamed) {
  endless();
  job.options.timeout = 2s;
  const auto launched = launch();
  wait_for(*launched, JobEvent::Kind::Step);
  ::kill(workers_of(folder.path())[1], SIGSTOP);
  const auto start = std::chrono::steady_clock::now();
  events_of(*launched);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_EQ(launched->state(), JobState::Failed);
  EXPECT_FALSE(launched->problem().empty());
  expect_none_left();
}

TEST_F(Local, AnInstructionThatTakesForEverIsNamed) {
  job.options.timeout = 1s;
  for (Instruction& instruction : job.programs.ranks[2].instructions)
    if (instruction.kind == InstructionKind::Compute)
      instruction.duration = Nanos(3'600'000'000'000);
  const auto launched = launch();
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Failed);
  EXPECT_EQ(launched->problem().find("rank 2: hung in instruction"), 0u) << launched->problem();
  expect_none_left();
}

TEST_F(Local, ARankWithAnotherProgramIsRefused) {
  stage_job(folder.path(), job);
  std::string program = read_file(folder / "rank-1.bin");
  program[program.size() / 2] = static_cast<char>(program[program.size() / 2] ^ 1);
  write_file(folder / "rank-1.bin", program);
  const auto launched = launcher->launch(request());
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Failed);
  EXPECT_EQ(launched->problem().find("rank 1: "), 0u) << launched->problem();
  EXPECT_NE(launched->problem().find("rank-1.bin"), std::string::npos) << launched->problem();
  expect_none_left();
}

TEST_F(Local, CancelEndsEveryRank) {
  endless();
  const auto launched = launch();
  wait_for(*launched, JobEvent::Kind::Step);
  EXPECT_EQ(workers_of(folder.path()).size(), static_cast<std::size_t>(kRanks));
  launched->cancel();
  EXPECT_EQ(launched->state(), JobState::Cancelled);
  EXPECT_EQ(launched->problem(), "");
  expect_none_left();
  launched->cancel();
}

TEST_F(Local, CancelRightAfterTheStart) {
  const auto launched = launch();
  launched->cancel();
  EXPECT_EQ(launched->state(), JobState::Cancelled);
  expect_none_left();
}

TEST_F(Local, RanksEndWithTheProcessThatStartedThem) {
  endless();
  stage_job(folder.path(), job);
  const pid_t starter = ::fork();
  if (starter == 0) {
    const auto launched = launcher->launch(request());
    wait_for(*launched, JobEvent::Kind::Step);
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(starter, nullptr, 0), starter);
  const auto start = std::chrono::steady_clock::now();
  while (!workers_of(folder.path()).empty() && std::chrono::steady_clock::now() - start < 10s)
    std::this_thread::yield();
  expect_none_left();
}

TEST_F(Local, AJobCanBeRunAgainInItsFolder) {
  for (int round = 0; round < 2; ++round) {
    const auto launched = round == 0 ? launch() : launcher->launch(request());
    events_of(*launched);
    EXPECT_EQ(launched->state(), JobState::Finished) << launched->problem();
  }
}

TEST_F(Local, GoesOnFromACheckpoint) {
  job.options.checkpoint_every = 2;
  events_of(*launch());
  ASSERT_TRUE(fs::exists(folder / "checkpoint-2/index.json"));
  job.options.resume = "checkpoint-2";
  job.options.steps = 4;
  const auto launched = launch();
  const auto events = events_of(*launched);
  ASSERT_EQ(launched->state(), JobState::Finished) << launched->problem();
  EXPECT_EQ(events[1].step, 3);
  EXPECT_EQ(read_result(folder.path()).step_times.size(), 2u);
}

TEST_F(Local, RefusesSettingsItDoesNotKnowAndAMissingWorker) {
  stage_job(folder.path(), job);
  LaunchRequest wrong = request();
  wrong.settings["partition"] = "gpu";
  EXPECT_NE(message_of([&] { launcher->launch(wrong); }).find("no setting of the launcher local"),
            std::string::npos);
  wrong = request();
  wrong.worker = "/nonexistent/worker";
  EXPECT_NE(message_of([&] { launcher->launch(wrong); }).find("is not there"), std::string::npos);
  EXPECT_NE(
      message_of([&] { launcher->attach("local:1", folder.path()); }).find("cannot be attached to"),
      std::string::npos);
}

}  // namespace
}  // namespace strato
