// The texts that the workspace keeps of a run: the same from the command line and from the window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/model/measured_cost_model.h"
#include "core/search/api/planner.h"

namespace strato {

// Names the costs of a run, when they were not the standard ones.
struct RunCosts {
  CostFiles files;  // absolute
  std::string are;  // describe() of what they held then
};
// Returns nothing for standard costs.
std::optional<RunCosts> run_costs(const CostFiles& files, const CostSources& sources);

struct RunOptions {
  PlannerOptions planner;
  std::optional<RunCosts> costs;
};
std::string run_options_text(const RunOptions& options);
// Defaults for what the text does not say. Throws InputError, which calls the text `name`.
RunOptions parse_run_options(const std::string& text, const std::string& name);

// The costs of a run again. Throws InputError (of `file`, at `place`) when a file is gone or holds
// others now.
CostSources restore_costs(const RunCosts& costs, const std::string& file, const std::string& place,
                          std::vector<std::string>* warnings = nullptr);

std::string note_with_facts(const PlanResult& result);  // "note; bound: 12 ms; fused: 40 ops"

// The curves that a planner drew of its own course: for scripts, and for the workspace, which keeps
// them as the setting curves_key() of their run.
// A JSON list, one curve after the other. Points that are no finite numbers are left out.
std::string curves_text(const std::vector<PlanResult::Curve>& curves);
// Throws InputError, which calls the text `name`.
std::vector<PlanResult::Curve> parse_curves(const std::string& text, const std::string& name);

// Settings "run/<id>/..." belong to a run and are removed with it (Workspace::remove_run).
std::string curves_key(std::int64_t run);

}  // namespace strato
