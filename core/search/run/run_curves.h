// The curves that a planner drew of its own course (PlanResult::curves) as text: for scripts, and
// for the workspace, which keeps it as the setting curves_key() of its run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/search/api/planner.h"

namespace strato {

// A JSON list, one curve after the other. Points that are no finite numbers are left out.
std::string curves_text(const std::vector<PlanResult::Curve>& curves);
// Throws InputError, which calls the text `name`.
std::vector<PlanResult::Curve> parse_curves(const std::string& text, const std::string& name);

// Settings "run/<id>/..." belong to a run and are removed with it (Workspace::remove_run).
std::string curves_key(std::int64_t run);

}  // namespace strato
