// SIGINT and SIGTERM for the one thread that acts on them.
#pragma once

#include <chrono>

namespace strato {

// Blocks them while it lives, in the thread that makes it and in the threads that start afterwards:
// so make it before any other thread.
class EndSignals {
 public:
  // + signal: what a shell reports for a program that it ended.
  static constexpr int kKilledBy = 128;

  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // The next one that comes within this time; 0: none came. From any thread.
  static int wait(std::chrono::milliseconds time);
};

}  // namespace strato
