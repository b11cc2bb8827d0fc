// Reads profiles (the format: profile.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/cost/value/profile.h"

namespace strato {

// Throw InputError with the exact place: negative, zero or missing times, conflicting units, fewer
// than two points of a transfer or collective, one thing measured twice with other results, ...
Profile read_profile(const std::filesystem::path& file);
Profile parse_profile(std::string_view json, const std::string& file);

}  // namespace strato
