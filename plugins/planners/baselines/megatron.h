// The planner "megatron": the strategy that a Megatron-LM command line says, as it is
// (core/framework/megatron).
#pragma once

#include <filesystem>

#include "core/search/api/option_table.h"
#include "core/search/api/planner.h"

namespace strato::megatron {

struct Settings {
  std::filesystem::path file;

  OptionTable option_table();
};

// Throws InputError for a file that is not given or is no such command line, and for a model, a
// batch or a cluster that it does not fit.
PlanResult plan(const PlanRequest& request, const Settings& settings);

}  // namespace strato::megatron
