#include "core/base/error.h"

#include <algorithm>

namespace strato {
namespace {

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string joined(const std::string& file, const std::string& place, const std::string& problem,
                   const std::string& remedy) {
  std::string text;
  for (const std::string* part : {&file, &place}) {
    if (!part->empty()) text += *part + ": ";
  }
  text += problem;
  if (!remedy.empty()) text += "; " + remedy;
  return one_line(std::move(text));
}

}  // namespace

InputError::InputError(std::string file, std::string place, std::string problem, std::string remedy)
    : std::runtime_error(joined(file, place, problem, remedy)),
      file_(std::move(file)),
      place_(std::move(place)),
      problem_(std::move(problem)),
      remedy_(std::move(remedy)) {}

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InvariantError(std::string(file) + ":" + std::to_string(line) +
                       ": invariant broken: " + message + " (" + condition + ")");
}

}  // namespace strato
