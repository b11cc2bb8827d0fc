// A text that a person has copied from somewhere, as a model: a config.json, or a command line, a
// script or a configuration of a training framework, told apart by what they say. It is kept as a
// file, which is opened like any other. Thread-safe, no state.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "core/framework/configuration/training_job.h"

namespace strato {

inline constexpr std::size_t kMostPasted = std::size_t{1} << 20;  // bytes

struct PastedText {
  std::string text;
  std::string name;                            // of the model: "llama-8.03B"
  std::optional<frameworks::TrainingJob> job;  // nothing: it is a config.json
};

void check_pasted_size(std::size_t bytes);  // throws InputError for more than kMostPasted
// Throws InputError, about no file, for a text that describes no model, or one that cannot be read,
// and for one larger than kMostPasted.
PastedText read_pasted(const std::string& text);

// The file that has this text in `folder`, which is made where it is not there; one with another
// text stays as it is. Throws InputError where it cannot be written.
std::filesystem::path keep_pasted(const PastedText& pasted, const std::filesystem::path& folder);

}  // namespace strato
