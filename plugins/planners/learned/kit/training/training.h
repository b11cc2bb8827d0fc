// The training that all learned planners share: collect experience, learn from it, measure on what
// is held out, and keep a checkpoint; alone, or as one of several processes that share their steps.
//
// Everything follows from the seed, the number of steps and what a checkpoint has: a training that
// goes on makes the weights that it would have made without the pause. With a budget of time the
// clock drives the rate, too.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "plugins/planners/learned/kit/training/checkpoint.h"
#include "plugins/planners/learned/kit/training/learner.h"
#include "plugins/planners/learned/kit/training/peers.h"
#include "plugins/planners/learned/kit/training/run_settings.h"

namespace strato::learned {

// A trainer gives this, beside its learner.
struct TrainingPlan {
  std::string planner;
  RunSettings settings;
  std::string fingerprint;  // of the settings and the problems; rank and seed are added to it
  // Reads a checkpoint that an earlier version wrote (old_checkpoint.h), and gives it the
  // fingerprint of today if it belongs to this training.
  std::function<Checkpoint(std::string_view bytes, const std::string& file)> read_old;
};

class Training {
 public:
  // Reads the checkpoint that is there, and meets the other processes. All but the plan must
  // outlive it. Throws InputError.
  Training(TrainingPlan plan, const TrainingOptions& options, Learner& learner,
           TrainingObserver& observer, std::stop_token stop);
  TrainingResult run();

 private:
  using Clock = std::chrono::steady_clock;

  std::filesystem::path checkpoint_file() const;
  std::string fingerprint() const;
  void resume();
  void agree_on_start();
  bool step();
  bool step_or_save();
  bool finished() const;
  Going standing() const;
  double elapsed() const;
  void report();
  std::string note() const;
  Checkpoint checkpoint() const;
  void save();

  const TrainingPlan plan_;
  const TrainingOptions& options_;
  Learner& learner_;
  TrainingObserver& observer_;
  const std::stop_token stop_;
  const Learner::Phase phase_;
  Peers peers_;
  const std::string start_note_;  // of the weights that it began with
  std::int64_t begun_at_ = 0;     // step of the checkpoint
  std::int64_t step_ = 0;
  double loss_sum_ = 0;
  std::int64_t losses_ = 0;  // since the last point
  TrainingPoint last_;
  Going going_ = Going::On;  // of all processes
  double elapsed_before_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point saved_ = start_;
};

}  // namespace strato::learned
