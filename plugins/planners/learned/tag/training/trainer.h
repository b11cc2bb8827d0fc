// The trainer of the planner `tag` (TAG 4.2.2 and 5.2): searches on random models and clusters make
// examples, the network learns from them, and later searches are guided by it.
//
// Work goes in rounds: a few searches side by side with the network as it is, then a few steps of
// the optimizer on minibatches drawn from the latest examples. Of several processes each searches
// for itself.
#pragma once

#include <memory>

#include "plugins/planners/learned/kit/training/training.h"
#include "plugins/planners/learned/tag/network/network.h"

namespace strato::tag {

// The network learns to predict these at a vertex (several may be chosen).
struct Targets {
  bool visits = false;  // pi = softmax(ln N) over its children (the paper)
  bool best = true;     // the next decision of the best strategy found
  bool values = true;   // what every next decision gives, the rest following the first
};

// The trainer's options (--set key=value).
struct TrainSettings {
  Targets targets;
  int iterations = 200;       // of a search
  TreeSearchOptions search;   // of its `polish` is part of them; features follow from it, too
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
  learned::RunSettings run;

  OptionTable option_table();
  // Throws InputError.
  static TrainSettings from(const TrainingOptions& options);
};

std::unique_ptr<Trainer> make_trainer();

}  // namespace strato::tag
