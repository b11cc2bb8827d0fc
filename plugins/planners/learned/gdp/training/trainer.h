// The trainer of the planner `gdp` (policy_learner.h).
#pragma once

#include <memory>

#include "core/plugin/load/plugin_registry.h"
#include "core/search/api/trainer.h"

namespace strato::gdp {

// `heuristics`: whose quick planners are teachers; null: none. Must outlive the trainer.
std::unique_ptr<Trainer> make_trainer(const PluginRegistry* heuristics = nullptr);

}  // namespace strato::gdp
