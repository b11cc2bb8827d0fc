// One thread that runs tasks in the order in which they came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace strato::gloo_transport {

class TaskQueue {
 public:
  TaskQueue() : thread_([this] { run(); }) {}
  ~TaskQueue() {  // what is queued is done first
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    news_.notify_one();
    thread_.join();
  }

  std::future<void> push(std::function<void()> task) {
    std::packaged_task<void()> packaged(std::move(task));
    std::future<void> done = packaged.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(packaged));
    }
    news_.notify_one();
    return done;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      news_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace strato::gloo_transport
