// The checks that every launcher makes of a request before it starts anything.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plugin/api/launcher.h"

namespace strato {

// Throws InputError: a setting that is not among `known` or has no proper value, no worker.
void check_request(const LaunchRequest& request, const std::string& launcher,
                   const std::vector<std::pair<std::string, std::string>>& known);

// Empty: not given.
std::string setting_of(const LaunchRequest& request, const std::string& name);

// Returns the node that each rank runs on, from 0 in the order in which machines first occur.
// Machines beyond `most` nodes share them again from the first; 0: as many as there are machines.
std::vector<int> nodes_of(const LaunchRequest& request, int most);

// Behind "rank 1 was killed by signal 9".
inline constexpr std::string_view kWhoKills =
    "; the system kills so when memory runs out (see dmesg), if nobody else did";

}  // namespace strato
