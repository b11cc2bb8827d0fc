// The thread that ends a worker when it should not go on: another rank has failed or is lost, the
// launcher has gone, it was told to end (SIGTERM, SIGINT), or nothing has moved for too long. The
// other threads may be anywhere then, also inside a library that waits for ever, so it ends the
// process at once; files are written whole or not at all.
//
// Make it before any other thread starts: they inherit the blocked signals.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "app/worker/events.h"
#include "core/launch/process/process.h"
#include "core/plugin/api/rank_engine.h"

namespace strato::worker {

// How long a rank whose peer went away waits for that one to say why.
constexpr std::chrono::milliseconds kPatience{1500};

// Exit statuses of a worker.
enum WorkerStatus : int { kDone = 0, kBadUsage = 2, kFailed = 3 };

class Guard {
 public:
  struct Watched {
    std::filesystem::path folder;
    int rank = 0;
    // Standard input is a pipe that nobody writes to: it ends when the launcher does.
    bool leash = false;
    std::chrono::milliseconds tick{50};
  };
  using End = std::function<void(int status)>;
  static void end_process(int status);

  // `events` outlives the guard. `end` does not return in a worker; where it does (in a test), the
  // guard watches no more.
  Guard(Watched watched, Events& events, End end = end_process);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  struct Activity {
    std::uint64_t ended = 0;  // instructions so far
    int running = -1;         // the instruction that the engine is at; -1: it waits for others
  };
  // From now on something has to end at least once in `timeout`. A rank that waits for others gets
  // longer: so the one that hangs is the one that tells. `name`: of an instruction.
  void expect_progress(std::function<Activity()> activity, std::function<std::string(int)> name,
                       std::chrono::milliseconds timeout);
  void expect_nothing();  // neither is called any more when this returns

  // From now on no rank may be lost. Nothing: any may; what was given is not called any more when
  // this returns.
  void expect_ranks(std::function<std::optional<LostRank>()> lost);

 private:
  using Clock = std::chrono::steady_clock;

  void watch(const std::stop_token& stop);
  bool look();  // false: it has ended
  bool ended_by_signal();
  bool ended_by_launcher() const;
  bool ended_by_failure();
  bool ended_by_loss();
  bool ended_by_silence();
  void say(const std::string& text) const;
  void fail(int rank, const std::string& text);

  EndSignals signals_;
  Watched watched_;
  Events& events_;
  End end_;
  std::mutex mutex_;
  std::function<Activity()> activity_;
  std::function<std::string(int)> name_;
  std::function<std::optional<LostRank>()> lost_;
  std::optional<Clock::time_point> lost_at_;
  std::chrono::milliseconds timeout_{0};
  std::uint64_t last_ = 0;
  Clock::time_point moved_;
  std::jthread thread_;
};

}  // namespace strato::worker
