// A job's folder, whatever kind of job it holds (internal to core/job).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace strato {

// Fills a new folder, which gets its name when `write` is done; or one that an earlier job left,
// whose files are taken away first, but for checkpoints. Throws InputError for a folder of other
// things, one that everybody may write to, or where nothing can be written.
void stage_folder(const std::filesystem::path& folder,
                  const std::function<void(const std::filesystem::path&)>& write);

// A random one that nobody else can open at any time. Throws InputError; for reading also when
// others may read the file or write to the folder.
void write_secret(const std::filesystem::path& folder);
std::string read_secret(const std::filesystem::path& folder);

}  // namespace strato
