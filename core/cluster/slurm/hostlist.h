// Lists of hosts as Slurm writes them: "n[01-32,40],login", "r[1-2]n[01-16]". Numbers keep their
// zeros.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strato {

// The names, in their order. Nothing for what is no such list, and for more than `most` names,
// which are counted before any is made.
std::optional<std::vector<std::string>> hosts_in(std::string_view list, std::size_t most);

}  // namespace strato
