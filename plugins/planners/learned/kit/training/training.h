// The training that all learned planners share: collect experience, learn from it, measure on what
// is held out, and keep a checkpoint; alone, or as one of several processes that share their steps.
//
// Everything follows from the seed, the number of steps and what a checkpoint has: a training that
// goes on makes the weights that it would have made without the pause. With a budget of time the
// clock drives the rate, too.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/error.h"
#include "plugins/planners/learned/kit/training/checkpoint.h"
#include "plugins/planners/learned/kit/training/run_settings.h"

namespace strato::learned {

// A learner is what differs from one planner's training to another's: how experience is collected,
// what a step learns from it, and how that is measured.
class Learner {
 public:
  using Phase = std::function<void(const std::string&)>;  // told what is being done
  virtual ~Learner() = default;

  virtual TrainedNetwork& network() = 0;
  // Searches what only measures: the same after every pause.
  virtual void hold_out(const Phase& phase, const std::stop_token& stop) = 0;
  // Collects the experience that is due before this step. What is stopped amid leaves nothing
  // behind, and is done again.
  virtual void collect(std::int64_t step, const Phase& phase, const std::stop_token& stop) = 0;
  // Says why nothing can be learned, though experience was collected; nothing where it can.
  virtual std::optional<InputError> nothing_to_learn() const { return std::nullopt; }
  // One step of the network at about this rate; returns its loss. Nothing when it was stopped amid:
  // then it has left nothing behind, as when it throws PeerLost.
  virtual std::optional<double> learn(std::int64_t step, double rate, const Phase& phase,
                                      const std::stop_token& stop) = 0;
  virtual void measure(TrainingPoint& point) = 0;

  virtual double rate() const = 0;  // of learning, at its highest
  virtual Collected collected() const = 0;
  // As a value of a container (core/io/container.h).
  virtual std::string experience() const = 0;
  // Throws InputError for experience of another training. `file`: its name, for messages.
  virtual void restore(const Collected& collected, std::string_view experience,
                       const std::string& file) = 0;
};

// A trainer gives this, beside its learner.
struct TrainingPlan {
  std::string planner;
  RunSettings settings;
  std::string fingerprint;  // of the settings and the problems; rank and seed are added to it
  // Reads a checkpoint that an earlier version wrote (parse_old_checkpoint), and gives it the
  // fingerprint of today if it belongs to this training.
  std::function<Checkpoint(std::string_view bytes, const std::string& file)> read_old;
};

// Goes on from the checkpoint that is there, and meets the other processes. Throws InputError.
TrainingResult run_training(const TrainingPlan& plan, const TrainingOptions& options,
                            Learner& learner, TrainingObserver& observer,
                            const std::stop_token& stop);

}  // namespace strato::learned
