// The words that a program would be given by a shell script, as far as they are written out in it.
//
// A script is read, never run. Quotes, comments and lines that go on behind a \ are the shell's.
// Known are arrays (ARGS=( ... ), "${ARGS[@]}") and variables with a plain value (TP=8, $TP); all
// else behind a $ has no value here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strato::frameworks {

struct ScriptWord {
  std::string text;
  std::string unknown = {};  // "$NAME", of which the file does not say what it is
  int line = 1;
};

// What is behind the first word that ends with ".py" of the last command that has one, arrays put
// in; where there is no such command, of all arrays; where there are none, of all commands, from
// the first word on that begins with "--". Throws InputError for quotes and brackets that are not
// closed, for a '|' or a bracket that is not quoted, and for a file that is no text.
std::vector<ScriptWord> script_words(std::string_view text, const std::string& file);

// Of YAML, lines "--name: value" and "- --name value"; others say nothing. "true" is a name alone,
// "false" and "null" are not there.
std::vector<ScriptWord> yaml_words(std::string_view text, const std::string& file);

}  // namespace strato::frameworks
