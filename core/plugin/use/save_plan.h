// The plan file of a strategy: one for the window and the command line.
#pragma once

#include <filesystem>

#include "core/plugin/use/model_source.h"
#include "core/search/verdict/verdict.h"
#include "core/strategy/file/plan_file.h"

namespace strato {

struct Constraints;  // core/search/constraints/constraints.h

// `model`: how the verdict's problem came about. `strategy`: what the verdict is about.
// `constraints`: that it keeps to, or null. A relative path of the model counts from the folder of
// `file`, so that it holds wherever the plan is read from.
PlanFile plan_to_save(const std::filesystem::path& file, const ModelSource& model,
                      const Strategy& strategy, const Verdict& verdict,
                      const Constraints* constraints);
// Writes it. Throws InputError where that cannot be.
void save_plan(const std::filesystem::path& file, const ModelSource& model,
               const Strategy& strategy, const Verdict& verdict, const Constraints* constraints);

}  // namespace strato
