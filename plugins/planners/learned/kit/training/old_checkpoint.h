// Checkpoints as versions before the archive of tensors wrote them: a magic line
// ("stratoscope-tag-training 2\n"; the number is the version), a digest of the content, the
// content.
#pragma once

#include <string>
#include <string_view>

#include "core/io/byte_io.h"
#include "plugins/planners/learned/kit/training/checkpoint.h"

namespace strato::learned {

bool is_old_checkpoint(std::string_view bytes);  // as far as the first bytes tell
// The content, a part of `bytes`. Throws InputError for another planner's file, another version,
// and what is damaged; `file`: its name, for messages.
std::string_view unsealed(std::string_view bytes, const std::string& planner,
                          const std::string& file);
// The next two of its texts: a file of weights, and the optimizer's moments.
NetworkState read_old_network(ByteReader& in, const std::string& planner, const std::string& file);

}  // namespace strato::learned
