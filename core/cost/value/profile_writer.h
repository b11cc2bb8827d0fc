// Writes profiles (the format: profile.h).
#pragma once

#include <filesystem>
#include <string>

#include "core/cost/value/profile.h"

namespace strato {

// In the order that is documented above, whatever the order in `profile`; what stands there twice
// is pooled. parse_profile gives an equal profile back.
std::string profile_json(const Profile& profile);
void write_profile(const std::filesystem::path& file, const Profile& profile);

}  // namespace strato
