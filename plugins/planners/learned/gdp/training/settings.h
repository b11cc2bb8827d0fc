// Options of the trainer of `gdp`.
#pragma once

#include "core/search/api/trainer.h"
#include "plugins/planners/learned/gdp/policy/ppo.h"
#include "plugins/planners/learned/kit/training/run_settings.h"

namespace strato::gdp {

struct TrainSettings {
  enum class Method {
    Replay,  // imitate the best known placements of all pairs of model and cluster met so far
    Ppo,     // GDP-batch: learn from own roll-outs, one pair after another
  };
  Method method = Method::Replay;
  NetworkSize size;
  int groups = 60;
  learned::RunSettings run{.held_out = 8, .report = 50};

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
  PpoOptions ppo{.learn = {.imitation = 1}};
  int rounds = 4;  // in a visit

  OptionTable option_table();
  // Throws InputError for unknown keys and for values out of range.
  static TrainSettings from(const TrainingOptions& options);
};

}  // namespace strato::gdp
