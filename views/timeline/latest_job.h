// Work for the screen that is done off the GUI thread: one job at a time; of those asked for
// meanwhile only the latest is done. Lives in the GUI thread; what a job uses must outlive it, so
// it owns (shared) all of that.
#pragma once

#include <QFutureWatcher>
#include <QtConcurrent>
#include <functional>
#include <optional>

#include "views/models/background_pool.h"

namespace strato {

template <class Result>
class LatestJob {
 public:
  explicit LatestJob(std::function<void(const Result&)> show) : show_(std::move(show)) {
    QObject::connect(&watcher_, &QFutureWatcherBase::finished, &watcher_, [this] { finished(); });
  }

  // `at_once`: it is so short that it is done here and now.
  void ask(std::function<Result()> job, bool at_once) {
    if (at_once) {
      drop();
      show_(job());
    } else if (running_) {
      next_ = std::move(job);
    } else {
      run(std::move(job));
    }
  }
  // Results of what was asked for until now are not shown.
  void drop() {
    next_.reset();
    stale_ = running_;
  }

 private:
  void run(std::function<Result()> job) {
    running_ = true;
    stale_ = false;
    watcher_.setFuture(QtConcurrent::run(background_pool(), std::move(job)));
  }
  void finished() {
    running_ = false;
    {
      const Result result = watcher_.future().takeResult();  // it is not kept here
      if (!stale_) show_(result);
    }
    stale_ = false;
    if (auto job = std::exchange(next_, std::nullopt)) run(std::move(*job));
  }

  std::function<void(const Result&)> show_;
  QFutureWatcher<Result> watcher_;
  std::optional<std::function<Result()>> next_;
  bool running_ = false, stale_ = false;
};

}  // namespace strato
