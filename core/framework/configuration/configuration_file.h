// A training framework's configuration in a file: which framework's it is, and in which syntax, is
// found in what the file says.
#pragma once

#include <filesystem>
#include <string>

#include "core/framework/layout/read_layout.h"

namespace strato::frameworks {

struct ReadConfiguration {
  std::string
      framework;  // "Megatron-LM", "torchtitan", "DeepSpeed", "Accelerate", "NeMo Automodel"
  ReadLayout read;
};

// A shell script or YAML for Megatron-LM, TOML or a script with overrides for torchtitan, JSON for
// DeepSpeed, YAML or JSON for Accelerate, YAML for NeMo Automodel. Throws InputError for a file
// that is none of these, that says less than the layout needs, or that does not fit the training.
ReadConfiguration read_configuration(const std::filesystem::path& file, const Training& training);

}  // namespace strato::frameworks
