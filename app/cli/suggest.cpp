#include "app/cli/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace strato::cli {
namespace {

// Insertions, removals and changes of a letter, and swaps of neighbours (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t best = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best = std::min({best, table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        best = std::min(best, table[i - 2][j - 2] + 1);
      }
      table[i][j] = best;
    }
  }
  return table[a.size()][b.size()];
}

const CLI::App& chosen_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen_command(*parsed.front());
}

// "stratoscope-cli tree pin"
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : full_name(*parent) + " ") + command.get_name();
}

std::vector<std::string> known_names(const CLI::App& app, bool options) {
  std::vector<std::string> names;
  if (options) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  }
  return names;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string did_you_mean(const CLI::App& command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  const std::string near = nearest(option, known_names(command, word.starts_with("-")));
  return near.empty() ? "" : fmt::format(", did you mean {}?", near);
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t errors = distance(word, name);
    if (errors < fewest) {
      fewest = errors;
      best = name;
    }
  }
  return best;
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error, int argc,
                          const char* const* argv) {
  const CLI::App& command = chosen_command(app);
  const std::string help = fmt::format("; see {} --help", full_name(command));
  std::vector<std::string> extra = app.remaining(true);
  // With no subcommand understood the parser only says that one is missing.
  if (extra.empty() && &command == &app && argc > 1) extra.emplace_back(argv[1]);
  if (extra.empty()) return one_line(error.what()) + help;
  const std::string& word = extra.front();
  const char* what = word.starts_with("-") ? "option" : &command == &app ? "command" : "argument";
  return fmt::format("unknown {} {}{}{}", what, word, did_you_mean(command, word), help);
}

}  // namespace strato::cli
