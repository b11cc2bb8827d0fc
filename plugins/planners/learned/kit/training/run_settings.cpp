#include "plugins/planners/learned/kit/training/run_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace strato::learned {

OptionTable RunSettings::option_table() {
  return {{"start", start, "weights to begin with; empty: fresh ones"},
          {"device", device, "where the network computes: cpu, cuda, cuda:1"},
          {"held-out", held_out, {0, 1e6}, "searches that only measure; 0: none"},
          {"report", report, {1, 1e6}, "steps from point to point of the loss curve"},
          {"save", save_seconds, {0.01, 1e6}, "seconds between checkpoints"},
          {"patience", patience, {1, 1e6}, "seconds until a silent process is taken for lost"}};
}

std::string fingerprint(const std::vector<OptionHelp>& values) {
  constexpr std::array<std::string_view, 4> kShapesNothing = {"device", "report", "save",
                                                              "patience"};
  std::string text;
  for (const OptionHelp& option : values)
    if (std::ranges::find(kShapesNothing, option.name) == kShapesNothing.end())
      text += option.name + "=" + option.default_value + "\n";
  return text;
}

std::string full_fingerprint(const TrainingOptions& options, const std::string& fingerprint) {
  return fmt::format("seed={}\nprocesses={}\nrank={}\n", options.seed, options.processes,
                     options.rank) +
         fingerprint;
}

}  // namespace strato::learned
