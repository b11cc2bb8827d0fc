// Ranks of a test as processes of their own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/api/rank_engine.h"

namespace strato {

// Forks the ranks and lets each run the body with its meeting; the expectations that fail in them
// are this test's failures. Call it before the test's own process has threads.
class RankProcesses {
 public:
  using Body = std::function<void(const Meeting&)>;

  explicit RankProcesses(int ranks, std::chrono::milliseconds timeout = std::chrono::seconds(10));
  ~RankProcesses();  // none is left behind

  const Meeting& meeting() const { return meeting_; }  // of rank 0
  void start(int rank, const Body& body);
  void start_all(const Body& body);
  // Waits for all; expects that they end well, but for these.
  void join(const std::vector<int>& but_for = {});
  void join_only(int rank);  // the others end with this object
  // Waits until each has stopped itself (SIGSTOP), and lets them go on so much later.
  void suspend_all_for(std::chrono::milliseconds time);

 private:
  int ended(std::size_t rank);  // its status

  Meeting meeting_;
  std::vector<int> processes_;
};

std::unique_ptr<Transport> gloo_transport(const Meeting& meeting);

}  // namespace strato
