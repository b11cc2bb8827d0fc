// Writes what an exporter makes of a result: a file, or a folder of files. Either is there as a
// whole or not at all: it is made under a temporary name beside its place, then renamed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/plugin/api/plugin.h"

namespace strato {

// Throws InputError when `folder` is something else, or a folder that is not empty; or when the
// folder above it cannot be written. Leaves nothing behind.
void check_export_folder(const std::filesystem::path& folder);

struct Exported {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
};
// Throws InputError: the exporter's, or that of check_export_folder(), or when it cannot be
// written.
Exported write_export(Exporter& exporter, const ExportInput& input,
                      const std::filesystem::path& path);

}  // namespace strato
