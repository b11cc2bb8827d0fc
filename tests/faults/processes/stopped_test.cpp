// A rank whose process is there and does nothing: it is named long before the timeout of 60 s.
#include "core/launch/job/job_result.h"
#include "tests/faults/fault_kit.h"

namespace strato {
namespace {

TEST_F(Faults, ARankThatIsStoppedIsNamedLongBeforeTheTimeout) {
  endless();
  const auto launched = launch();
  wait_for(*launched, JobEvent::Kind::Step);
  ::kill(worker(1), SIGSTOP);
  expect_problem(*launched, "rank 1 was stopped", "SIGSTOP");
}

TEST_F(Faults, ARankThatIsStoppedBeforeTheRanksMeetIsNamed) {
  stage_job(folder.path(), job);
  const auto launched =
      launcher->launch(with_worker("[ $4 = 2 ] && kill -STOP $$\nexec \"$worker\" \"$@\""));
  expect_problem(*launched, "rank 2 was stopped", "SIGSTOP");
}

TEST_F(Faults, ARankThatIsStoppedForAMomentGoesOn) {
  slow(Nanos(1'000'000));
  job.options.steps = 30;
  const auto launched = launch();
  wait_for(*launched, JobEvent::Kind::Step);
  ::kill(worker(1), SIGSTOP);
  EXPECT_FALSE(launched->next_line(500ms) && launched->next_line(500ms) &&
               launched->next_line(500ms));
  ::kill(worker(1), SIGCONT);
  events_of(*launched);
  EXPECT_EQ(launched->state(), JobState::Finished) << launched->problem();
}

// No launcher sees it, as under Slurm or mpirun: the ranks miss its signs of life.
// (The shell waits for the worker, also when both are told to end.)
TEST_F(Faults, ARankThatFallsSilentIsNamedByTheOthers) {
  endless();
  stage_job(folder.path(), job);
  const auto launched = launcher->launch(with_worker("trap : TERM\n\"$worker\" \"$@\"\nexit $?"));
  wait_for(*launched, JobEvent::Kind::Step);
  ::kill(worker(1), SIGSTOP);
  expect_problem(*launched, "rank 1: gives no sign of life for ", "stopped");
}

}  // namespace
}  // namespace strato
