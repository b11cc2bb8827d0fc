// Reading an archive of tensors with messages that name the thing it is to a person, not its
// format. Include in .cpp files only.
#pragma once

#include <string>
#include <string_view>

#include "core/data/tensor_archive.h"

namespace strato::learned {

// Throws InputError with the kind's own words for all that cannot be read.
ReadArchive read_strictly(std::string_view bytes, const ContainerKind& kind,
                          const std::string& file);

}  // namespace strato::learned
