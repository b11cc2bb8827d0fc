#include "core/framework/layout/comments.h"

#include <algorithm>

namespace strato::frameworks {

std::string in_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

std::string comment_of(const std::string& head, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = "#\n# " + head + "\n";
  for (const std::string& sentence : sentences) text += "#   - " + in_one_line(sentence) + "\n";
  return text;
}

}  // namespace strato::frameworks
