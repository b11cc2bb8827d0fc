// Options of the trainer of `gdp`.
#pragma once

#include <string>
#include <vector>

#include "core/search/api/trainer.h"
#include "plugins/planners/gdp/ppo.h"

namespace strato::gdp {

struct TrainSettings {
  enum class Method {
    Replay,  // imitate the best known placements of all pairs of model and cluster met so far
    Ppo,     // GDP-batch: learn from own trials, one pair after another
  };
  Method method = Method::Replay;
  NetworkSize size;
  std::string start, device = "cpu";
  int held_out = 8;  // pairs on which nothing is learned
  int report = 50;   // steps from point to point of the curve
  int groups = 60;
  double save_seconds = 30;
  double patience = 30;  // seconds after which a silent process is taken for lost

  // Replay.
  double rate = 5e-4;
  int memory = 400;    // latest pairs that are learned from
  int first = 16;      // pairs before the first step
  int visits = 4;      // new pairs at once
  int updates = 16;    // steps from these to the next
  int minibatch = 4;   // pairs a step learns from
  int search = 200;    // evaluations of a pair's search for the best placement
  double whole = 0.5;  // part of the pairs on which every unit goes to one device

  // Ppo.
  PpoOptions ppo;
  int rounds = 4;  // in a visit

  // Throws InputError for unknown keys and for values out of range.
  static TrainSettings from(const TrainingOptions& options);
  static std::vector<OptionHelp> help();
};

}  // namespace strato::gdp
