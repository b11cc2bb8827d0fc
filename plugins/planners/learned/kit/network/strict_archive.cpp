#include "plugins/planners/learned/kit/network/strict_archive.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace strato::learned {

ReadArchive read_strictly(std::string_view bytes, const ContainerKind& kind,
                          const std::string& file) {
  try {
    return read_archive(bytes, kind, file);
  } catch (const InputError& error) {
    if (error.problem().find(kind.thing) != std::string::npos) throw;
    throw InputError(file, "",
                     fmt::format("{} is damaged or cut short: {}", kind.thing, error.problem()),
                     kind.remedy);
  }
}

}  // namespace strato::learned
