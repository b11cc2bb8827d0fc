#include "core/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace strato {
namespace {

// In one line.
std::string joined(const std::string& file, const std::string& place, const std::string& problem,
                   const std::string& remedy) {
  std::string text;
  for (const std::string* part : {&file, &place})
    if (!part->empty()) text += *part + ": ";
  text += problem;
  if (!remedy.empty()) text += "; " + remedy;
  const auto breaks_line = [](char c) { return c == '\n' || c == '\r'; };
  std::ranges::replace_if(text, breaks_line, ' ');
  return text;
}

}  // namespace

InputError::InputError(std::string file, std::string place, std::string problem, std::string remedy)
    : std::runtime_error(joined(file, place, problem, remedy)),
      file_(std::move(file)),
      place_(std::move(place)),
      problem_(std::move(problem)),
      remedy_(std::move(remedy)) {}

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InvariantError(
      fmt::format("{}:{}: invariant broken: {} ({})", file, line, message, condition));
}

}  // namespace strato
