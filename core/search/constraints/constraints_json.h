// Constraints as a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/search/constraints/constraints.h"

namespace strato {

std::string constraints_json(const Constraints& constraints);
// Throw InputError with the exact place: another format, an unknown key or mode, a weight below 1,
// no group, no device, fewer than two groups together, a limit below 1.
Constraints parse_constraints(std::string_view json, const std::string& file);
Constraints read_constraints(const std::filesystem::path& file);

}  // namespace strato
