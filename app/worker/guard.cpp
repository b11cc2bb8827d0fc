#include "app/worker/guard.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/launch/job/run_files.h"

namespace strato::worker {

void Guard::end_process(int status) {
  std::fflush(stderr);
  std::_Exit(status);
}

Guard::Guard(Watched watched, Events& events, End end)
    : watched_(std::move(watched)), events_(events), end_(std::move(end)) {
  reserve_failure(watched_.folder);
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

Guard::~Guard() {
  thread_.request_stop();
  thread_.join();
}

void Guard::expect_progress(std::function<Activity()> activity,
                            std::function<std::string(int)> name,
                            std::chrono::milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  activity_ = std::move(activity);
  name_ = std::move(name);
  timeout_ = timeout;
  last_ = activity_().ended;
  moved_ = Clock::now();
}

void Guard::expect_nothing() {
  const std::lock_guard lock(mutex_);
  activity_ = nullptr;
}

void Guard::expect_ranks(std::function<std::optional<LostRank>()> lost) {
  const std::lock_guard lock(mutex_);
  lost_ = std::move(lost);
}

void Guard::say(const std::string& text) const {
  std::fprintf(stderr, "rank %d: %s\n", watched_.rank, text.c_str());
}

void Guard::watch(const std::stop_token& stop) {
  while (!stop.stop_requested() && look()) {
  }
}

// Waits one tick, for a signal.
bool Guard::look() {
  return !ended_by_signal() && !ended_by_launcher() && !ended_by_failure() && !ended_by_loss() &&
         !ended_by_silence();
}

bool Guard::ended_by_signal() {
  const int signal = EndSignals::wait(watched_.tick);
  if (signal == 0) return false;
  say(fmt::format("ended by signal {}", signal));
  end_(EndSignals::kKilledBy + signal);
  return true;
}

bool Guard::ended_by_launcher() const {
  pollfd input{STDIN_FILENO, 0, 0};
  if (!watched_.leash || ::poll(&input, 1, 0) <= 0) return false;
  say("its launcher has ended");
  end_(kFailed);
  return true;
}

bool Guard::ended_by_failure() {
  const auto failure = find_failure(watched_.folder);
  if (!failure || failure->rank == watched_.rank) return false;
  say(fmt::format("ends because rank {} failed: {}", failure->rank, failure->text));
  events_.tell_failure(failure->rank, failure->text);
  end_(kFailed);
  return true;
}

// One that broke down may still tell why; one that is stopped tells nothing.
bool Guard::ended_by_loss() {
  const std::lock_guard lock(mutex_);
  const auto lost = lost_ ? lost_() : std::nullopt;
  if (!lost) return false;
  if (!lost_at_) lost_at_ = Clock::now();
  if (!lost->stopped && Clock::now() - *lost_at_ < kPatience) return false;
  fail(lost->rank, lost->problem);
  return true;
}

bool Guard::ended_by_silence() {
  const std::lock_guard lock(mutex_);
  if (!activity_) return false;
  const auto now = Clock::now();
  const Activity activity = activity_();
  if (activity.ended != last_) {
    last_ = activity.ended;
    moved_ = now;
    return false;
  }
  const bool waits = activity.running < 0;
  if (now - moved_ < (waits ? timeout_ * 5 / 4 : timeout_)) return false;
  fail(watched_.rank,
       fmt::format("hung {} for {:.3g} s",
                   waits ? "waiting for other ranks" : "in " + name_(activity.running),
                   std::chrono::duration<double>(now - moved_).count()));
  return true;
}

void Guard::fail(int rank, const std::string& text) {
  say(rank == watched_.rank ? text : fmt::format("ends because rank {} {}", rank, text));
  record_failure(watched_.folder, {rank, text});
  const auto first = find_failure(watched_.folder);
  events_.tell_failure(first ? first->rank : rank, first ? first->text : text);
  end_(kFailed);
}

}  // namespace strato::worker
