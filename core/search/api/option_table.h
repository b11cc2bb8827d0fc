// The options of a planner, a refiner or a trainer (--set key=value), declared once. A struct of
// settings binds its members to names, and from this one table they are read, refused and listed:
//
//   struct Settings {
//     double beta = 2000;  // a member's initial value is the option's default
//     Order order = Order::Cpd;
//
//     OptionTable option_table() {
//       return {{"beta", beta, {0}, "how strictly slower proposals are refused"},
//               {"order", order, {"cpd", "dfs", "m"}, "topological order"}};
//     }
//   };
//   const auto settings = read_options<Settings>(options.set);
//   std::vector<OptionHelp> Mine::options() const { return list_options<Settings>(); }
#pragma once

#include <concepts>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/units.h"

namespace strato {

// An option for people.
struct OptionHelp {
  std::string name, default_value, help;
  std::string values = {};  // "from 0 to 1", "cpd, dfs, m"; empty: any text
};

using OptionTexts = std::map<std::string, std::string>;

// The numbers that an option takes: from `low`, or from above it, to `high`.
struct OptionRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above_low = false;

  bool contains(double value) const;
  OptionRange within(double most) const { return {low, high < most ? high : most, above_low}; }
  std::string text() const;  // "from 0 to 1", "above 0"
};

// The size of the unit in which people give bytes.
enum class OptionUnit : std::int64_t { KB = 1 << 10, MB = 1 << 20 };

// One option, bound to a variable that it refers to. Reading throws InputError for text that does
// not parse and for values out of range; the variable is then as before.
class Option {
 public:
  using Read = std::function<void(const std::string&)>;
  using Write = std::function<std::string()>;

  Option(std::string name, bool& value, std::string help);
  template <class Text>
  requires(std::same_as<Text, std::string> || std::same_as<Text, std::filesystem::path>)
      Option(std::string name, Text& value, std::string help)
      : Option(
            std::move(name), [&value](const std::string& text) { value = text; },
            [&value] { return std::filesystem::path(value).string(); }, "", std::move(help)) {}
  Option(std::string name, Bytes& value, OptionUnit unit, OptionRange range, std::string help);
  Option(std::string name, double& value, OptionRange range, std::string help);
  // A whole number; a range without an end ends with T's.
  template <std::integral T>
  requires(!std::same_as<T, bool>)
      Option(std::string name, T& value, OptionRange range, std::string help)
      : Option(
            std::move(name),
            sizeof(T) < 8 ? range.within(static_cast<double>(std::numeric_limits<T>::max()))
                          : range,
            std::move(help), [&value](std::int64_t number) { value = static_cast<T>(number); },
            [&value] { return static_cast<std::int64_t>(value); }) {}
  // One of the words for the values 0, 1, ... of an enumeration or a bool.
  template <class T>
  requires(std::is_enum_v<T> || std::same_as<T, bool>)
      Option(std::string name, T& value, std::vector<std::string> words, std::string help)
      : Option(
            std::move(name), std::move(words), std::move(help),
            [&value](std::size_t index) { value = static_cast<T>(index); },
            [&value] { return static_cast<std::size_t>(value); }) {}
  // An option with a language of its own; `read` calls refuse_option for what it does not know.
  Option(std::string name, Read read, Write write, std::string values, std::string help);

  const std::string& name() const { return name_; }
  void read(const std::string& text) const { read_(text); }
  OptionHelp help() const { return {name_, write_(), help_, values_}; }

 private:
  Option(std::string name, OptionRange range, std::string help,
         std::function<void(std::int64_t)> set, std::function<std::int64_t()> get);
  Option(std::string name, std::vector<std::string> words, std::string help,
         std::function<void(std::size_t)> set, std::function<std::size_t()> get);

  std::string name_, help_, values_;
  Read read_;
  Write write_;
};

// The options of one struct of settings, to which it refers.
class OptionTable {
 public:
  OptionTable(std::initializer_list<Option> options) : options_(options) {}
  OptionTable& add(OptionTable more);  // at the end
  // Sets what is given; other keys are none of its business. Throws InputError.
  void read(const OptionTexts& set) const;
  // In the order of the table, with the values that the settings have now.
  std::vector<OptionHelp> list() const;

 private:
  std::vector<Option> options_;
};

// Settings as given. Those with a member `paper` that is set by then (variant=paper) begin with
// what follow_paper() makes of the defaults.
template <class Settings>
Settings read_options(const OptionTexts& set) {
  Settings settings;
  settings.option_table().read(set);
  if constexpr (requires { settings.follow_paper(); }) {
    if (!settings.paper) return settings;
    settings = Settings();
    settings.follow_paper();
    settings.option_table().read(set);
  }
  return settings;
}

template <class Settings>
std::vector<OptionHelp> list_options() {
  return Settings().option_table().list();
}

// Throws the InputError for a value of an option.
[[noreturn]] void refuse_option(std::string_view name, const std::string& value,
                                std::string problem, std::string remedy);
// Throws InputError for a key that is not among `known`; `who` is "planner 'mcts'".
void refuse_unknown_options(const std::string& who, const std::vector<OptionHelp>& known,
                            const OptionTexts& set);

}  // namespace strato
