#include "core/search/api/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/base/number_from.h"

namespace strato {
namespace {

// `kind`: "a number"; `example`: one.
template <class T>
T number_of(const std::string& name, const std::string& text, const OptionRange& range,
            std::string_view kind, std::string_view example) {
  const std::optional<T> value = number_from<T>(text);
  if (!value)
    refuse_option(name, text, fmt::format("'{}' is not {}", text, kind),
                  fmt::format("give {} such as {}", kind, example));
  if (!range.contains(static_cast<double>(*value)))
    refuse_option(name, text, "the value is out of range",
                  fmt::format("give {} {}", kind, range.text()));
  return *value;
}
double number_of(const std::string& name, const std::string& text, const OptionRange& range) {
  return number_of<double>(name, text, range, "a number", "1.5");
}

bool truth_of(const std::string& name, const std::string& text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  refuse_option(name, text, "'" + text + "' is neither true nor false", "give true or false");
}

}  // namespace

bool OptionRange::contains(double value) const {
  return (above_low ? value > low : value >= low) && value <= high;
}

std::string OptionRange::text() const {
  const bool bounded = !std::isinf(high);
  if (above_low)
    return fmt::format("above {}", low) + (bounded ? fmt::format(", up to {}", high) : "");
  return fmt::format("from {} ", low) + (bounded ? fmt::format("to {}", high) : "on");
}

Option::Option(std::string name, Read read, Write write, std::string values, std::string help)
    : name_(std::move(name)),
      help_(std::move(help)),
      values_(std::move(values)),
      read_(std::move(read)),
      write_(std::move(write)) {}

Option::Option(std::string name, bool& value, std::string help)
    : Option(
          name, [name, &value](const std::string& text) { value = truth_of(name, text); },
          [&value] { return std::string(value ? "true" : "false"); }, "true, false",
          std::move(help)) {}

Option::Option(std::string name, Bytes& value, OptionUnit unit, OptionRange range, std::string help)
    : Option(
          name,
          [=, &value](const std::string& text) {
            value = Bytes(std::llround(number_of(name, text, range) * static_cast<double>(unit)));
          },
          [=, &value] {
            return fmt::format("{}", static_cast<double>(value.value) / static_cast<double>(unit));
          },
          range.text(), std::move(help)) {}

Option::Option(std::string name, double& value, OptionRange range, std::string help)
    : Option(
          name, [=, &value](const std::string& text) { value = number_of(name, text, range); },
          [&value] { return fmt::format("{}", value); }, range.text(), std::move(help)) {}

Option::Option(std::string name, OptionRange range, std::string help,
               std::function<void(std::int64_t)> set, std::function<std::int64_t()> get)
    : Option(
          name,
          [=](const std::string& text) {
            set(number_of<std::int64_t>(name, text, range, "a whole number", "8"));
          },
          [get = std::move(get)] { return fmt::format("{}", get()); }, range.text(),
          std::move(help)) {}

Option::Option(std::string name, std::vector<std::string> words, std::string help,
               std::function<void(std::size_t)> set, std::function<std::size_t()> get)
    : Option(
          name,
          [=](const std::string& text) {
            const auto found = std::ranges::find(words, text);
            if (found == words.end())
              refuse_option(name, text, "'" + text + "' is not a choice",
                            fmt::format("give one of: {}", fmt::join(words, ", ")));
            set(static_cast<std::size_t>(found - words.begin()));
          },
          [=] { return words.at(get()); }, fmt::format("{}", fmt::join(words, ", ")),
          std::move(help)) {}

OptionTable& OptionTable::add(OptionTable more) {
  std::ranges::move(more.options_, std::back_inserter(options_));
  return *this;
}

void OptionTable::read(const OptionTexts& set) const {
  for (const Option& option : options_)
    if (const auto given = set.find(option.name()); given != set.end()) option.read(given->second);
}

std::vector<OptionHelp> OptionTable::list() const {
  std::vector<OptionHelp> list;
  for (const Option& option : options_) list.push_back(option.help());
  return list;
}

void refuse_option(std::string_view name, const std::string& value, std::string problem,
                   std::string remedy) {
  throw InputError("", fmt::format("--set {}={}", name, value), std::move(problem),
                   std::move(remedy));
}

void refuse_unknown_options(const std::string& who, const std::vector<OptionHelp>& known,
                            const OptionTexts& set) {
  for (const auto& [key, value] : set) {
    if (std::ranges::find(known, key, &OptionHelp::name) != known.end()) continue;
    std::vector<std::string> names;
    for (const OptionHelp& option : known) names.push_back(option.name);
    refuse_option(
        key, value, fmt::format("{} has no option '{}'", who, key),
        names.empty() ? "leave it out" : fmt::format("it has: {}", fmt::join(names, ", ")));
  }
}

}  // namespace strato
