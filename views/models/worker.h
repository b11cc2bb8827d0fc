// One thread that does jobs one after another, first in, first out. Jobs must not throw.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace strato {

class Worker {
 public:
  enum class OnExit { DropQueued, FinishQueued };
  explicit Worker(OnExit on_exit);
  ~Worker();  // end()
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void post(std::function<void()> job);               // from any thread
  void wait();                                        // until nothing is queued or under way
  bool wait_for(std::chrono::milliseconds patience);  // false: something still is
  // Waits for the job under way, and for those queued where they are to be finished. Afterwards
  // nothing is taken any more. Not from a job.
  void end();

 private:
  void work();

  const OnExit on_exit_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::deque<std::function<void()>> jobs_;
  bool running_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace strato
