// The planner "configuration": the strategy that a training framework's configuration says, as it
// is (core/framework/configuration).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "core/search/api/option_table.h"
#include "core/search/api/planner.h"

namespace strato::configuration {

enum class Recomputes : std::uint8_t { AsGiven, None, Cheap, Blocks };
inline constexpr std::array kRecomputes = {"as-given", "none", "cheap", "blocks"};

struct Settings {
  std::filesystem::path file;
  // What several frameworks leave to the program; where the file says it, the file holds.
  std::int32_t stages = 0, micro_batch_size = 0;
  Recomputes recompute = Recomputes::AsGiven;

  OptionTable option_table();
};

// Throws InputError for a file that is not given or is no such configuration, and for a model, a
// batch or a cluster that it does not fit.
PlanResult plan(const PlanRequest& request, const Settings& settings);

}  // namespace strato::configuration
