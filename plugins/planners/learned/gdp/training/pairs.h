// The trainer of `gdp` learns on pairs of a model and a cluster, drawn by number.
//
// Immutable after construction; safe from any thread.
#pragma once

#include <string>

#include "plugins/planners/learned/gdp/policy/placement_task.h"
#include "plugins/planners/learned/kit/training/problems.h"

namespace strato::gdp {

struct Pair {
  learned::ProblemKey key;
  bool whole = false;  // every unit on one device
};

class TrainingPairs {
 public:
  // Draws the random clusters. Throws InputError where there is no model or no cluster.
  TrainingPairs(const TrainingOptions& options, int groups, int held_out);

  // Equal arguments, equal pair; `whole`: the part of the pairs on which every unit goes to one
  // device.
  Pair pair(std::int64_t number, double whole) const;
  // One model after another, each on a random cluster of its own; without random clusters, on those
  // of the training.
  Pair held_out_pair(std::int64_t number) const;
  const learned::TrainingProblems& problems() const { return problems_; }
  const TrainingOptions& options() const { return options_; }

 private:
  const TrainingOptions& options_;
  const std::int32_t held_out_;  // clusters; they come last
  const learned::TrainingProblems problems_;
};

}  // namespace strato::gdp
