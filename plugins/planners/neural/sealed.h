// A training's checkpoint as a file: magic line ("stratoscope-tag-training 1\n"; the number is the
// version), digest of the content, content.
#pragma once

#include <string>
#include <string_view>

namespace strato::neural {

std::string seal(std::string_view magic, std::string_view content);
// The content, a part of `bytes`. Throws InputError for another planner's file, another version,
// and what is damaged; `file`: its name, for messages.
std::string_view unsealed(std::string_view bytes, std::string_view magic,
                          const std::string& planner, const std::string& file);

}  // namespace strato::neural
