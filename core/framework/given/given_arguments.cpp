#include "core/framework/given/given_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"
#include "core/io/json.h"

namespace strato::frameworks {
namespace {

bool is_argument_name(const std::string& word) { return word.size() > 2 && word.starts_with("--"); }

std::string as_text(const std::vector<std::string>& values) {
  return shortened(fmt::format("{}", fmt::join(values, " ")));
}

}  // namespace

std::string shortened(const std::string& text) {
  constexpr std::size_t kLongest = 80;
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

GivenArguments::GivenArguments(const std::vector<ScriptWord>& words, std::string file)
    : file_(std::move(file)) {
  std::vector<std::pair<std::string, Given>> all;
  for (const ScriptWord& word : words) {
    const bool is_name = is_argument_name(word.text);
    if (!is_name && all.empty()) refuse_loose(word);
    std::string value = word.text;
    if (is_name) {
      const std::size_t equals = word.text.find('=');
      all.emplace_back(shortened(word.text.substr(0, equals)), Given{.line = word.line});
      if (equals == std::string::npos) continue;
      value = word.text.substr(equals + 1);
    }
    Given& given = all.back().second;
    given.values.push_back(std::move(value));
    if (given.unknown.empty()) given.unknown = word.unknown;
  }
  if (all.empty())
    throw InputError(file_, "", "has no argument that begins with --",
                     "give a script that runs Megatron-LM, or its arguments");
  for (const auto& [name, given] : all) put(name, given);
}

GivenArguments::GivenArguments(const JsonView& tree, std::string file) : file_(std::move(file)) {
  if (!tree.is_object())
    throw InputError(file_, "", "has no names with values", "give a framework's configuration");
  put_tree("", tree);
}

namespace {

std::string text_of(const JsonView& value) {
  return value.is_string() ? value.string() : json_text(value.json());
}

bool is_list_of_words(const JsonView& value) {
  return value.is_array() && std::ranges::none_of(value.items(), [](const JsonView& item) {
           return item.is_array() || item.is_object();
         });
}

}  // namespace

// As deep as a reader of files lets a tree be.
void GivenArguments::put_tree(const std::string& name, const JsonView& value) {
  const auto below = [&](const std::string& key) { return name.empty() ? key : name + "." + key; };
  if (value.is_null()) return;
  if (value.is_object()) {
    for (const auto& [key, member] : value.members()) put_tree(below(shortened(key)), member);
  } else if (is_list_of_words(value)) {
    Given given;
    for (const JsonView& item : value.items()) given.values.push_back(text_of(item));
    put(name, given);
  } else if (value.is_array()) {
    const std::vector<JsonView> items = value.items();
    for (std::size_t i = 0; i < items.size(); ++i) put_tree(below(fmt::format("{}", i)), items[i]);
  } else {
    put(name, Given{.values = {text_of(value)}});
  }
}

void GivenArguments::rename(const std::function<std::string(const std::string&)>& name_of) {
  std::map<std::string, Given> renamed;
  for (auto& [name, given] : given_) renamed.try_emplace(name_of(name), std::move(given));
  given_ = std::move(renamed);
}

void GivenArguments::put(const std::string& name, const Given& given) {
  const auto [at, fresh] = given_.try_emplace(name, given);
  if (!fresh && at->second.values != given.values)
    refuse(name,
           fmt::format("is there twice, as \"{}\" and {}as \"{}\"", as_text(at->second.values),
                       given.line > 0 ? fmt::format("in line {} ", given.line) : "",
                       as_text(given.values)),
           "leave one of them");
}

void GivenArguments::refuse_loose(const ScriptWord& word) const {
  const std::string place = fmt::format("line {}", word.line);
  if (!word.unknown.empty())
    throw InputError(file_, place,
                     fmt::format("{} is not set in this file", shortened(word.unknown)),
                     "write out what it stands for");
  throw InputError(file_, place, fmt::format("\"{}\" belongs to no argument", shortened(word.text)),
                   "put it behind one that begins with --");
}

void GivenArguments::refuse(const std::string& name, const std::string& problem,
                            const std::string& remedy) const {
  const auto found = given_.find(name);
  const bool has_line = found != given_.end() && found->second.line > 0;
  const std::string line = has_line ? fmt::format("line {}: ", found->second.line) : "";
  throw InputError(file_, line + name, problem, remedy);
}

bool GivenArguments::has(const std::string& name) {
  const auto found = given_.find(name);
  if (found == given_.end()) return false;
  found->second.read = true;
  return true;
}

std::string GivenArguments::first_of(std::initializer_list<std::string_view> names) {
  std::string first;
  for (const std::string_view name : names)
    if (has(std::string(name)) && first.empty()) first = name;
  return first.empty() ? std::string(*(names.end() - 1)) : first;
}

std::vector<std::string> GivenArguments::names() const {
  std::vector<std::string> names;
  for (const auto& [name, given] : given_) names.push_back(name);
  return names;
}

const std::vector<std::string>& GivenArguments::values(const std::string& name) const {
  return given_.at(name).values;
}

std::vector<std::string> GivenArguments::unread() const {
  std::vector<std::string> names;
  for (const auto& [name, given] : given_)
    if (!given.read) names.push_back(name);
  return names;
}

bool GivenArguments::flag(const std::string& name) {
  if (!has(name)) return false;
  if (!values(name).empty())
    refuse(name, fmt::format("has a value, \"{}\"", as_text(values(name))), "write its name alone");
  return true;
}

std::optional<bool> GivenArguments::yes_or_no(const std::string& name) {
  if (has(name) && values(name).empty()) return true;
  const auto given = text(name);
  if (!given) return std::nullopt;
  const bool yes = *given == "true" || *given == "True";
  if (!yes && *given != "false" && *given != "False")
    refuse(name, fmt::format("is \"{}\"", shortened(*given)), "give true or false");
  return yes;
}

std::optional<std::string> GivenArguments::text(const std::string& name) {
  if (!has(name)) return std::nullopt;
  const Given& given = given_.at(name);
  if (!given.unknown.empty())
    refuse(name, fmt::format("is {}, which is not set in this file", shortened(given.unknown)),
           "write out what it stands for");
  if (given.values.size() != 1)
    refuse(
        name,
        given.values.empty() ? "has no value" : fmt::format("has {} values", given.values.size()),
        "give it one");
  return given.values.front();
}

std::optional<std::int32_t> GivenArguments::number(const std::string& name) {
  constexpr std::int32_t kMost = 1'000'000;
  const auto given = text(name);
  if (!given) return std::nullopt;
  const auto value = number_from<std::int32_t>(*given, 1, kMost);
  if (!value)
    refuse(name, fmt::format("is \"{}\"", shortened(*given)),
           fmt::format("give a whole number from 1 to {}", kMost));
  return value;
}

std::optional<std::int32_t> GivenArguments::number_unless(
    const std::string& name, std::initializer_list<std::string_view> nothing) {
  const auto given = text(name);
  if (!given || std::ranges::find(nothing, *given) != nothing.end()) return std::nullopt;
  return number(name);
}

std::string GivenArguments::one_of(const std::string& name, const std::vector<std::string>& words) {
  const auto given = text(name);
  if (given && std::ranges::find(words, *given) == words.end())
    refuse(name, fmt::format("is \"{}\"", shortened(*given)),
           fmt::format("give one of: {}", fmt::join(words, ", ")));
  return given.value_or("");
}

}  // namespace strato::frameworks
