#include "core/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace strato {
namespace {

// What comes from a file may be a million letters. No character of UTF-8 is cut.
std::string shortened(const std::string& part, std::size_t most) {
  if (part.size() <= most) return part;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(part[end]) & 0xC0U) == 0x80) --end;
  return part.substr(0, end) + "…";
}

// A sentence may list many things, but a word of a thousand letters is a name from a file.
std::string shortened_words(const std::string& sentence) {
  constexpr std::size_t kMostOfASentence = 50'000, kMostOfAWord = 500;
  std::string text;
  for (std::size_t begin = 0; begin < sentence.size() && text.size() <= kMostOfASentence;) {
    const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
    text += shortened(sentence.substr(begin, end - begin), kMostOfAWord);
    if (end < sentence.size()) text += ' ';
    begin = end + 1;
  }
  return shortened(text, kMostOfASentence);
}

// In one line. It ends at no zero, as what() would.
std::string joined(const std::string& file, const std::string& place, const std::string& problem,
                   const std::string& remedy) {
  constexpr std::size_t kMostOfAPlace = 200;
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (!place.empty()) text += shortened(place, kMostOfAPlace) + ": ";
  text += shortened_words(problem);
  if (!remedy.empty()) text += "; " + shortened_words(remedy);
  const auto breaks_line = [](char c) { return c == '\n' || c == '\r' || c == '\0'; };
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
