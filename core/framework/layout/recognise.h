// Recognises in a strategy what training frameworks call tensor, pipeline, data and expert
// parallelism, ZeRO and recomputation. Pure; safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "core/framework/layout/model_layers.h"
#include "core/framework/layout/training_layout.h"
#include "core/search/api/problem.h"

namespace strato::frameworks {

struct Recognised {
  TrainingLayout layout;
  ModelLayers layers;
  // What the strategy has and the layout does not say, a sentence each without a full stop.
  std::vector<std::string> differences;
};

// Throws InputError with what makes the strategy no such layout.
Recognised recognise(const Problem& problem, const Strategy& strategy);

}  // namespace strato::frameworks
