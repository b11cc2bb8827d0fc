#include "views/models/worker.h"

#include <utility>

namespace strato {

Worker::Worker(OnExit on_exit) : on_exit_(on_exit), thread_([this] { work(); }) {}

Worker::~Worker() { end(); }

void Worker::end() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (on_exit_ == OnExit::DropQueued) jobs_.clear();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Worker::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ && on_exit_ == OnExit::DropQueued) return;
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Worker::wait() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return jobs_.empty() && !running_; });
}

bool Worker::wait_for(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, patience, [this] { return jobs_.empty() && !running_; });
}

void Worker::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    running_ = true;
    lock.unlock();
    job();
    lock.lock();
    running_ = false;
    if (jobs_.empty()) idle_.notify_all();
  }
}

}  // namespace strato
