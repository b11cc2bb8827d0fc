// The training that all learned planners share: collect experience, learn from it, measure on what
// is held out, and keep a checkpoint; alone, or as one of several processes that share their steps.
//
// Everything follows from the seed, the number of steps and what a checkpoint has: a training that
// goes on makes the weights that it would have made without the pause. With a budget of time the
// clock drives the rate, too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/cluster/vary/random_cluster.h"
#include "core/search/api/trainer.h"
#include "plugins/planners/learned/kit/training/checkpoint.h"

namespace strato::learned {

// ---- The problems that a training learns on: every model on every cluster, given ones and random
// ones.

// The seed of draw `number` for a purpose, of a training's one seed; `rank` where every process
// draws its own. What is drawn for one purpose does not depend on what was drawn for another, nor
// on pauses.
std::uint64_t random_stream(std::uint64_t seed, std::string_view purpose, std::int64_t number,
                            std::optional<int> rank = {});

// One model on one cluster, by their indices: given clusters first, then random ones.
struct ProblemKey {
  std::int32_t model = 0, cluster = 0;
  friend auto operator<=>(const ProblemKey&, const ProblemKey&) = default;
};

// Immutable after construction; safe from any thread.
class TrainingProblems {
 public:
  // Draws the random clusters and, behind them, `held_out` more. Throws InputError where there is
  // no model or no cluster. Graphs are grouped into at most `groups`.
  TrainingProblems(const TrainingOptions& options, int groups,
                   const RandomClusterOptions& random = {}, int held_out = 0);

  std::int32_t model_count() const { return static_cast<std::int32_t>(graphs_.size()); }
  std::int32_t cluster_count() const { return static_cast<std::int32_t>(clusters_.size()); }
  // The clusters before the last `held_out` ones.
  ProblemKey draw(Random& random, std::int32_t held_out = 0) const;
  Problem problem(const ProblemKey& key) const;
  std::string name(const ProblemKey& key) const;  // "vgg19 on random-7"
  // The models, and the clusters, one a line: what a checkpoint belongs to.
  std::string fingerprint() const;
  Digest digest() const;  // of the same

 private:
  const int groups_;
  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const Graph>> graphs_;  // training graphs
  std::vector<std::shared_ptr<const Cluster>> clusters_;
};

// ---- The training.

// Options that all trainers share (--set key=value).
struct RunSettings {
  std::string start = {};  // weights to begin with; empty: fresh ones
  std::string device = "cpu";
  int held_out = 6;          // what only measures
  int report = 20;           // steps from point to point of the curve
  double save_seconds = 30;  // between checkpoints
  double patience = 30;      // seconds after which a silent process is taken for lost

  OptionTable option_table();
};

// The options that shape the weights, one "key=value" a line: they have to be equal for a
// checkpoint to be gone on from. `values`: the trainer's options as they are set.
std::string fingerprint(const std::vector<OptionHelp>& values);
template <class Settings>
std::string fingerprint_of(Settings settings) {
  return fingerprint(settings.option_table().list());
}
// The same with what is the process's own: seed and rank before `fingerprint`.
std::string full_fingerprint(const TrainingOptions& options, const std::string& fingerprint);

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
  // behind, and is done again. A learner without experience does nothing here.
  virtual void collect(std::int64_t, const Phase&, const std::stop_token&) {}
  // Says why nothing can be learned, though experience was collected; nothing where it can.
  virtual std::optional<InputError> nothing_to_learn() const { return std::nullopt; }
  // One step of the network at about this rate; returns its loss. Nothing when it was stopped amid:
  // then it has left nothing behind, as when it throws PeerLost.
  virtual std::optional<double> learn(std::int64_t step, double rate, const Phase& phase,
                                      const std::stop_token& stop) = 0;
  virtual void measure(TrainingPoint& point) = 0;

  virtual double rate() const = 0;  // of learning, at its highest
  // As a value of a container (core/io/container.h).
  virtual std::string experience() const { return {}; }
  // Of as much as `collected` says. Throws InputError for experience of another training. `file`:
  // its name, for messages.
  virtual void restore(std::string_view, const std::string&) {}

  Collected collected;
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
