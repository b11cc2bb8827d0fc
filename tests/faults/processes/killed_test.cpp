// A rank that is killed at any moment.
//
// $STRATOSCOPE_ROUNDS says how often (tests/faults/run --full: 200).
#include <cstdlib>

#include "core/base/random.h"
#include "tests/faults/fault_kit.h"

namespace strato {
namespace {

int rounds() {
  const char* text = std::getenv("STRATOSCOPE_ROUNDS");
  return text == nullptr ? 6 : std::atoi(text);
}

// Anywhere between its start and its end: before the ranks meet, in a step, in a checkpoint, while
// results are gathered.
TEST_F(Faults, ARankThatIsKilledAtAnyMomentIsNamedAndTheJobGoesOn) {
  job.options.steps = 12;
  job.options.checkpoint_every = 1;
  slow(Nanos(1'000'000));
  auto begin = Clock::now();
  events_of(*launch());
  const std::chrono::duration<double> whole = Clock::now() - begin;
  Random random(5);
  for (int round = 0; round < rounds(); ++round) {
    const int victim = static_cast<int>(random.below(kRanks));
    const auto moment = whole * random.uniform(0, 1.05);
    SCOPED_TRACE("rank " + std::to_string(victim) + " after " + std::to_string(moment.count()) +
                 " s");
    for (int step = 1; step <= job.options.steps; ++step)
      fs::remove_all(folder / ("checkpoint-" + std::to_string(step)));
    job.options.resume.clear();
    begin = Clock::now();
    const auto launched = launch();
    while (Clock::now() - begin < moment && launched->state() == JobState::Running)
      while (launched->next_line(1ms)) continue;
    const auto workers = workers_of(folder.path());
    if (workers.contains(victim)) ::kill(workers.at(victim), SIGKILL);
    const auto killed = Clock::now();
    events_of(*launched);
    EXPECT_LT(Clock::now() - killed, 10s);
    expect_none_left();
    if (launched->state() != JobState::Finished) {
      EXPECT_EQ(
          launched->problem().find("rank " + std::to_string(victim) + " was killed by signal 9"),
          0u)
          << launched->problem();
      EXPECT_NE(launched->problem().find("memory"), std::string::npos) << launched->problem();
    }
    job.options.resume = newest_checkpoint(folder.path());
    if (job.options.resume == "checkpoint-12") continue;
    const auto again = launch();
    events_of(*again);
    EXPECT_EQ(again->state(), JobState::Finished) << again->problem();
    EXPECT_EQ(newest_checkpoint(folder.path()), "checkpoint-12");
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace strato
