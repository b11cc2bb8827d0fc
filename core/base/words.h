// Words and lines of texts that programs print. The views are into the text.
#pragma once

#include <string_view>
#include <vector>

namespace strato {

using Words = std::vector<std::string_view>;

inline Words split(std::string_view text, char at) {
  Words parts;
  for (std::size_t begin = 0; begin <= text.size(); begin += parts.back().size() + 1)
    parts.push_back(text.substr(begin, text.find(at, begin) - begin));
  return parts;
}

inline std::string_view trimmed_word(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

inline Words words_in(std::string_view line) {
  Words words;
  while (!(line = trimmed_word(line)).empty()) {
    words.push_back(line.substr(0, line.find_first_of(" \t\r")));
    line.remove_prefix(words.back().size());
  }
  return words;
}

// Whether `pattern` describes the whole text: "*" stands for any text.
inline bool matches_pattern(std::string_view pattern, std::string_view text) {
  bool is_first = true;  // part of the pattern: nothing is before it
  for (std::size_t star; (star = pattern.find('*')) != std::string_view::npos; is_first = false) {
    const std::size_t place = text.find(pattern.substr(0, star));
    if (place == std::string_view::npos || (is_first && place != 0)) return false;
    text.remove_prefix(place + star);
    pattern.remove_prefix(star + 1);
  }
  return is_first ? text == pattern : text.ends_with(pattern);
}

}  // namespace strato
