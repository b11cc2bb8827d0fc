// Reading YAML that people write, as the JSON that says the same (JsonView): plain scalars are
// numbers, booleans or nothing where YAML 1.1 says so, else texts; aliases stand for what they
// name. Include in .cpp files only.
#pragma once

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace strato {

// Of the first document. Throws InputError for what is no YAML, for a key that is there twice, and
// for what unfolds to a hundred thousand values.
JsonView parse_yaml(std::string_view text, const std::string& file);

}  // namespace strato
