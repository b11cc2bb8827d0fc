// Sentences as comments of scripts.
#pragma once

#include <string>
#include <vector>

namespace strato::frameworks {

// A name from a file, which may have any characters, in one line.
std::string in_one_line(std::string text);

// "#\n# HEAD\n#   - SENTENCE\n..."; nothing of no sentences.
std::string comment_of(const std::string& head, const std::vector<std::string>& sentences);

}  // namespace strato::frameworks
