// The trainer's own options (--set key=value).
#pragma once

#include <string>
#include <vector>

#include "core/search/api/trainer.h"
#include "core/sim/timeline/feedback.h"
#include "plugins/planners/tag/network.h"

namespace strato::tag {

// What the network learns to predict at a vertex (several may be chosen).
struct Targets {
  bool visits = false;  // pi = softmax(ln N) over its children (the paper)
  bool best = false;    // the next decision of the best strategy found
  bool values = false;  // what every next decision gives, the rest following the first
};

struct TrainSettings {
  Targets targets;
  int iterations = 200;       // of a search
  double polish = 0.75;       // part of them that improves the best strategy locally
  int visits = 16;            // vertices with fewer are not learned from (the paper: 800)
  int depths = 4;             // vertices of the best strategy that are learned from
  double temperature = 0.05;  // of `values`: by how much (ln of time) a decision may be worse
  double uniform = 0.5;       // part of the searches with a uniform prior
  double known = 0.5;         // part of them that goes on from the best that earlier ones found;
                              // 0: earlier ones are not learned from either
  double feedback = 1;        // part of the examples that see runtime feedback
  int groups = 60;
  int searches = 4;  // a round
  int updates = 12;  // steps of the optimizer a round
  int minibatch = 24;
  int buffer = 3000;  // latest examples that are learned from
  LearnOptions learn;
  NetworkSize size;
  std::string start;  // weights to begin with; empty: fresh ones
  std::string device = "cpu";
  int held_out = 6;          // searches that nothing is learned from
  int report = 20;           // steps from point to point of the loss curve
  double save_seconds = 30;  // between checkpoints
  double patience = 30;      // seconds after which a silent process is taken for lost

  // Throws InputError.
  static TrainSettings from(const TrainingOptions& options);
  static std::vector<OptionHelp> help();
  // What has to be equal for a checkpoint to be gone on from, one "key=value" a line.
  std::string fingerprint() const;
};

}  // namespace strato::tag
