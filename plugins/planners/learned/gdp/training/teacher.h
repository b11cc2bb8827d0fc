// The answers that the trainer's policy imitates: for a task, the best placement that heuristics
// and a short search find. Not in the paper, whose policy learns from its own trials alone.
//
// Deterministic in the task, the options and the seed.
#pragma once

#include <cstdint>
#include <stop_token>

#include "core/plugin/load/plugin_registry.h"
#include "plugins/planners/learned/gdp/policy/placement_task.h"

namespace strato::gdp {

struct TeacherOptions {
  int evaluations = 200;  // of the search, beside what is known and what heuristics find
  // Whose quick planners are asked; null: none. Must outlive the call.
  const PluginRegistry* heuristics = nullptr;
};

// Returns what a complete strategy of the task's problem says to each unit's leader. Where the task
// has no such choice: all devices if the strategy says several, else the first that it names.
Placement nearest_placement(const PlacementTask& task, const Strategy& strategy);

// Evaluates what is known, what the heuristics find, and changes of the best: a run of units, an op
// group, or one side of the border between two devices is told something else. The best is then
// task.best(); those of a task that was stopped amid are worth nothing.
void teach(PlacementTask& task, const Problem& problem, Evaluator& evaluator,
           const TeacherOptions& options, std::uint64_t seed, const std::stop_token& stop);

}  // namespace strato::gdp
