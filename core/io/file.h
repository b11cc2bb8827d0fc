// Whole files in and out. Every failure is an InputError that names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace strato {

// One with more bytes than `most` is refused, if possible unread: somebody chose a disk image.
inline constexpr std::uintmax_t kMostOfAFile = std::uintmax_t{4} << 30;
inline constexpr std::uintmax_t kAnySize = UINTMAX_MAX;
std::string read_file(const std::filesystem::path& path, std::uintmax_t most = kMostOfAFile);

// Writes to a temporary name in the same folder, syncs, then renames: the file is never
// half-written. A device or pipe is written as it is, never replaced.
void write_file(const std::filesystem::path& path, std::string_view content);
// The same, of content that nobody has whole: `produce` hands over one part after another. What it
// throws leaves the file as it was.
using PutPart = std::function<void(std::string_view)>;
void write_file_in_parts(const std::filesystem::path& path,
                         const std::function<void(const PutPart&)>& produce);

// There, but neither a plain file nor a folder: a device, a pipe, /dev/stdout.
bool is_special_file(const std::filesystem::path& path);

// Returns the folder of the program's own data: $STRATOSCOPE_HOME when set, else the folder above
// the executable's (build tree and installed tree look alike): resources/, plugins/,
// sample_graphs/.
std::filesystem::path home_directory();

}  // namespace strato
