#include "core/framework/megatron/given_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"

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

void GivenArguments::put(const std::string& name, const Given& given) {
  const auto [at, fresh] = given_.try_emplace(name, given);
  if (!fresh && at->second.values != given.values)
    refuse(name,
           fmt::format("is there twice, as \"{}\" and in line {} as \"{}\"",
                       as_text(at->second.values), given.line, as_text(given.values)),
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
  const std::string line =
      found == given_.end() ? "" : fmt::format("line {}: ", found->second.line);
  throw InputError(file_, line + name, problem, remedy);
}

bool GivenArguments::has(const std::string& name) {
  const auto found = given_.find(name);
  if (found == given_.end()) return false;
  found->second.read = true;
  return true;
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

std::string GivenArguments::one_of(const std::string& name, const std::vector<std::string>& words) {
  const auto given = text(name);
  if (given && std::ranges::find(words, *given) == words.end())
    refuse(name, fmt::format("is \"{}\"", shortened(*given)),
           fmt::format("give one of: {}", fmt::join(words, ", ")));
  return given.value_or("");
}

}  // namespace strato::frameworks
