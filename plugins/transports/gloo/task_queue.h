// One thread that runs tasks in the order in which they came.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>

namespace strato::gloo_transport {

class TaskQueue {  // what is queued is done before it ends
 public:
  std::future<void> push(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    std::future<void> done = tasks_.emplace_back(std::move(task)).get_future();
    news_.notify_one();
    return done;
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (news_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any news_;
  std::deque<std::packaged_task<void()>> tasks_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

}  // namespace strato::gloo_transport
