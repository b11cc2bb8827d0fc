// A trainer makes the weights of a planner that learns: `stratoscope-cli train PLANNER`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/search/api/planner.h"

namespace strato {

struct TrainingModel {
  std::string name;
  std::shared_ptr<const Graph> graph;  // forward, as imported with its batch
};

struct TrainingOptions {
  std::vector<TrainingModel> models;
  std::vector<std::shared_ptr<const Cluster>> clusters;  // beside random ones
  int random_clusters = 100;
  std::int64_t steps = 1000;  // of the optimizer
  double budget_seconds = 0;  // when positive: stop after this time instead of steps
  std::uint64_t seed = 1;
  int threads = 0;  // 0: one per core
  OptionTexts set;  // trainer's own options (--set key=value)
  // Written now and then; training goes on from it if it is there.
  std::filesystem::path checkpoint;
  std::filesystem::path output;  // the weights
  // Several processes search and share gradients: this one is `rank` of `processes`, the first one
  // listens at `master` ("host:port").
  int rank = 0, processes = 1;
  std::string master;
};

struct TrainingPoint {
  std::int64_t step = 0;
  double loss = 0;                      // cross entropy on what is learned from, nats
  std::optional<double> held_out_loss;  // on searches that nothing was learned from
  // Step time of the policy's own answers there over that of the best known, geometric mean; of
  // trainers that can tell.
  std::optional<double> held_out_ratio;
  double elapsed_seconds = 0;  // over all continuations
  std::int64_t searches = 0, examples = 0;
};

// Called from the trainer's thread, one call at a time.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void on_point(const TrainingPoint&) {}
  // "searching VGG19 on 3 machines", for a progress line.
  virtual void on_phase(const std::string&) {}
};

struct TrainingResult {
  TrainingPoint last;
  bool stopped = false;  // before all steps were done: the checkpoint goes on from here
};

class Trainer {
 public:
  virtual ~Trainer() = default;
  virtual std::vector<OptionHelp> options() const { return {}; }
  // Throws InputError for options, checkpoints and weights that cannot be used.
  virtual TrainingResult train(const TrainingOptions& options, TrainingObserver& observer,
                               std::stop_token stop) = 0;
};

}  // namespace strato
