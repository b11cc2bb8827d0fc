// Files of weights as versions before the archive of tensors wrote them: those of `tag` ("STRATAG")
// and of the other planners ("STRATONN"). Little-endian.
#pragma once

#include <string>
#include <string_view>

#include "plugins/planners/learned/kit/network/weights.h"

namespace strato::learned {

bool is_old_weights(std::string_view bytes);  // as far as the first bytes tell
// Throws InputError; `file`: its name, for messages.
Weights read_old_weights(std::string_view bytes, const std::string& file);

}  // namespace strato::learned
