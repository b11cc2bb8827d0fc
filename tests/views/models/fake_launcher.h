// A launcher whose job says and does what a test tells it to, when it tells it to.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>

#include "core/base/error.h"
#include "core/launch/job/job_result.h"
#include "views/models/launch_run.h"

namespace strato {

// Shared by the test and the launch's thread.
class FakeCluster {
 public:
  void say(const std::string& line) {
    change([&] { lines_.push_back(line); });
  }
  void say(const JobEvent& event) { say(to_json_line(event)); }
  void step(std::int64_t step, Nanos time, std::optional<double> loss) {
    JobEvent event;
    event.kind = JobEvent::Kind::Step;
    event.step = step;
    event.step_time = time;
    event.loss = loss;
    say(event);
  }
  void log(int rank, const std::string& text) {
    std::ofstream(folder() / ("log-" + std::to_string(rank) + ".txt"), std::ios::app) << text;
  }
  void finish(const JobResult& result) {
    write_result(folder(), result);
    end(JobState::Finished, "");
  }
  void end(JobState state, const std::string& problem) {
    change([&] {
      state_ = state;
      problem_ = problem;
    });
  }
  void refuse(const std::string& problem) { refusal_ = problem; }  // before the launch
  void name(const std::string& job) { name_ = job; }               // the same: "slurm:1"

  std::filesystem::path folder() {
    const std::lock_guard lock(mutex_);
    return request_.folder;
  }
  LaunchRequest request() {
    const std::lock_guard lock(mutex_);
    return request_;
  }
  int launched() const { return launched_; }
  int attached() const { return attached_; }
  int alive() const { return alive_; }  // jobs that run or whose launcher still holds them
  bool cancelled() const { return cancelled_; }

 private:
  friend class FakeJob;
  friend class FakeLauncher;
  template <class Function>
  void change(Function function) {
    const std::lock_guard lock(mutex_);
    function();
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;
  JobState state_ = JobState::Running;
  std::string problem_, refusal_, name_ = "fake:1";
  LaunchRequest request_;
  std::atomic<int> launched_ = 0, attached_ = 0, alive_ = 0;
  std::atomic<bool> cancelled_ = false;
};

class FakeJob final : public LaunchedJob {
 public:
  explicit FakeJob(FakeCluster& cluster) : cluster_(cluster) { ++cluster_.alive_; }
  ~FakeJob() override { --cluster_.alive_; }
  std::string id() const override { return cluster_.name_; }
  std::optional<std::string> next_line(std::chrono::milliseconds wait) override {
    std::unique_lock lock(cluster_.mutex_);
    cluster_.changed_.wait_for(lock, wait, [&] {
      return !cluster_.lines_.empty() || cluster_.state_ != JobState::Running;
    });
    if (cluster_.lines_.empty()) return std::nullopt;
    std::string line = cluster_.lines_.front();
    cluster_.lines_.pop_front();
    return line;
  }
  JobState state() override {
    const std::lock_guard lock(cluster_.mutex_);
    return cluster_.state_;
  }
  std::string problem() override {
    const std::lock_guard lock(cluster_.mutex_);
    return cluster_.problem_;
  }
  void cancel() override {
    cluster_.cancelled_ = true;
    cluster_.end(JobState::Cancelled, "");
  }

 private:
  FakeCluster& cluster_;
};

class FakeLauncher final : public Launcher {
 public:
  explicit FakeLauncher(FakeCluster& cluster) : cluster_(cluster) {}
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return {{"partition", "Where the nodes are taken from"}, {"time", "Longest run, hh:mm:ss"}};
  }
  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) override {
    if (!cluster_.refusal_.empty()) throw InputError("", "", cluster_.refusal_, "");
    cluster_.change([&] {
      cluster_.lines_.clear();
      cluster_.state_ = JobState::Running;
      cluster_.problem_.clear();
      cluster_.request_ = request;
    });
    cluster_.cancelled_ = false;
    auto job = std::make_unique<FakeJob>(cluster_);
    ++cluster_.launched_;
    return job;
  }
  std::unique_ptr<LaunchedJob> attach(const std::string& id,
                                      const std::filesystem::path& folder) override {
    if (id != cluster_.name_ || folder != cluster_.folder())
      throw InputError("", "", id + " is not known", "");
    ++cluster_.attached_;
    return std::make_unique<FakeJob>(cluster_);
  }

 private:
  FakeCluster& cluster_;
};

inline LauncherFactory fake_factory(FakeCluster& cluster) {
  return [&cluster](std::string_view) { return std::make_unique<FakeLauncher>(cluster); };
}

inline LaunchChoice fake_choice(int steps = 3) {
  LaunchChoice choice;
  choice.options.engine = "replay";
  choice.options.steps = steps;
  return choice;
}

// That outlives the window: its launcher is a cluster's, and its folder a named one.
inline LaunchChoice cluster_job(FakeCluster& cluster, const char* job, const QString& at) {
  cluster.name(job);
  LaunchChoice choice = fake_choice();
  choice.launcher = "slurm";
  choice.folder = at.toStdString() + "/jobs";
  return choice;
}

// Every task takes `factor` times what was simulated, on the first rank.
inline JobResult stretched(const Timeline& predicted, double factor, int steps, std::size_t ranks) {
  const auto of = [factor](Nanos time) {
    return Nanos(std::llround(static_cast<double>(time.value) * factor));
  };
  JobResult result;
  result.step_time = of(predicted.step_time);
  for (int i = 0; i < steps; ++i) {
    result.step_times.push_back(result.step_time);
    result.losses.push_back(2.5 - 0.25 * i);
  }
  result.peaks.assign(ranks, Bytes(123'000'000));
  for (std::size_t i = 0; i < predicted.tasks.size(); ++i) {
    const TaskTimes& times = predicted.tasks[TaskId(i)];
    result.tasks.push_back({TaskId(i), 0, of(times.start), of(times.end)});
  }
  return result;
}

}  // namespace strato
