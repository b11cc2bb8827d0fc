// Whether rows can have the experts of a graph among them (MeshRoles::expert). Pure; thread-safe.
#pragma once

#include <string>

#include "core/strategy/value/strategy.h"

namespace strato {

// Throws InputError where the number of rows does not divide the experts that compute one of the
// ops. A group without such ops may say any number: it means nothing there.
void check_experts(const Decision& decision, std::span<const OpId> ops, const Graph& graph,
                   const std::string& place);

}  // namespace strato
