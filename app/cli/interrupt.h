// Ctrl-C as a stop request: once armed, SIGINT and SIGTERM ask for a clean stop; before that, and
// the second time, they end the program at once. Make it before any other thread starts (threads
// inherit the blocked signals).
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

#include "core/launch/process/process.h"

namespace strato::cli {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  void arm() { armed_ = true; }
  std::stop_token token() const { return stop_.get_token(); }
  bool requested() const { return stop_.stop_requested(); }

 private:
  void watch(const std::stop_token& end);

  EndSignals signals_;
  std::stop_source stop_;
  std::atomic<bool> armed_ = false;
  std::jthread watcher_;
};

}  // namespace strato::cli
