// Reads and writes profiles (the format: profile.h).
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

// In the order that profile.h documents, whatever the order in `profile`; what stands there twice
// is pooled. parse_profile gives an equal profile back.
std::string profile_json(const Profile& profile);
void write_profile(const std::filesystem::path& file, const Profile& profile);

}  // namespace strato
