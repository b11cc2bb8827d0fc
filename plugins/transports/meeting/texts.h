// Texts of all ranks at rank 0, over a transport's own messages.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/plugin/api/rank_engine.h"

namespace strato::admission {

// Moves bytes to or from a rank and blocks until that is done; of no bytes, nothing happens.
using MoveBytes = std::function<void(int peer, std::span<std::byte> bytes)>;

// By rank; on other ranks than 0 none. Every rank calls it. A text goes after its size.
std::vector<std::string> gather_texts(const Meeting& meeting, const std::string& own,
                                      const MoveBytes& send, const MoveBytes& receive);

}  // namespace strato::admission
