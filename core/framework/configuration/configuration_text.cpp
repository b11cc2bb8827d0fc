#include "core/framework/configuration/configuration_text.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/framework/given/script_words.h"
#include "core/io/json.h"
#include "core/io/toml.h"
#include "core/io/yaml.h"

namespace strato::frameworks {
namespace {

enum class Syntax { Json, Toml, Yaml, Script };

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '"' || c == '\'';
  });
}

// Of the first line that says anything; a table of TOML may come behind others.
Syntax syntax_of(const std::string& text) {
  std::istringstream lines(text);
  bool is_first = true, is_yaml = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') {
      if (line.starts_with("#!")) return Syntax::Script;
      continue;
    }
    const std::string_view words = std::string_view(line).substr(begin);
    const std::size_t bracket = words.find(']');
    if (words.starts_with('[') && bracket != std::string_view::npos &&
        is_name(words.substr(1, bracket - 1)))
      return Syntax::Toml;
    if (is_first && words.starts_with('{')) return Syntax::Json;
    if (is_first && words.starts_with("- ")) is_yaml = true;
    if (is_first && words.starts_with("---")) continue;
    const std::size_t colon = words.find(':');
    if (is_first && colon != std::string_view::npos && is_name(words.substr(0, colon)) &&
        (colon + 1 == words.size() || words[colon + 1] == ' ' || words[colon + 1] == '\r'))
      is_yaml = true;
    is_first = false;
  }
  return is_yaml ? Syntax::Yaml : Syntax::Script;
}

// torchtitan's "activation-checkpoint:full", which chooses among configurations, as a value.
std::vector<ScriptWord> with_choices(std::vector<ScriptWord> words) {
  for (ScriptWord& word : words)
    for (const std::string_view name : {"activation-checkpoint:", "activation_checkpoint:"})
      if (word.text.starts_with(name))
        word.text = "--activation_checkpoint.mode=" + word.text.substr(name.size());
  return words;
}

// Megatron-LM's launchers have its arguments, dashes and all, in YAML of many kinds.
bool has_arguments(const std::vector<ScriptWord>& words) {
  return std::ranges::any_of(words, [](const ScriptWord& word) { return word.text.size() > 2; });
}

ConfigurationText of_words(std::vector<ScriptWord> words, const std::string& file) {
  GivenArguments given(with_choices(words), file);
  return {true, std::move(words), std::move(given)};
}

}  // namespace

ConfigurationText configuration_text(const std::string& text, const std::string& file) {
  switch (syntax_of(text)) {
    case Syntax::Json:
      return {false, {}, GivenArguments(JsonView::parse(text, file), file)};
    case Syntax::Toml:
      return {false, {}, GivenArguments(parse_toml(text, file), file)};
    case Syntax::Yaml:
      if (auto words = yaml_words(text, file); has_arguments(words))
        return of_words(std::move(words), file);
      return {false, {}, GivenArguments(parse_yaml(text, file), file)};
    case Syntax::Script:
      break;
  }
  return of_words(script_words(text, file), file);
}

}  // namespace strato::frameworks
