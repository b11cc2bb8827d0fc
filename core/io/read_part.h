// A part of a file that may be longer than what anybody wants of it, or still grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace strato {

// What the file has from byte `from` on, at most `most` bytes of it: fewer where it ends before,
// none where it ends at `from`, is not there, or cannot be read. Safe from any thread.
std::string read_part(const std::filesystem::path& file, std::uint64_t from, std::size_t most);

}  // namespace strato
