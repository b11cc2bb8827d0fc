// The text of a training framework's configuration as names with values, in whichever syntax it is
// written (internal to this room).
#pragma once

#include <string>
#include <vector>

#include "core/framework/given/given_arguments.h"

namespace strato::frameworks {

struct ConfigurationText {
  bool is_words = false;          // a script's or YAML's arguments; else a tree
  std::vector<ScriptWord> words;  // of the former
  GivenArguments given;
};

// Throws InputError for a text that has no such syntax.
ConfigurationText configuration_text(const std::string& text, const std::string& file);

}  // namespace strato::frameworks
