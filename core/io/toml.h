// Reading TOML that people write, as the JSON that says the same (JsonView). Include in .cpp files
// only.
#pragma once

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace strato {

// Dates and times are texts. Throws InputError for what is no TOML.
JsonView parse_toml(std::string_view text, const std::string& file);

}  // namespace strato
