// Reads and writes how variables are synchronised, in strategy and plan files ("variables").
// Private to this folder.
#pragma once

#include <span>
#include <vector>

#include "core/io/json.h"
#include "core/strategy/file/named_strategy.h"

namespace strato {

Json variables_to_json(std::span<const NamedVariable> variables);
std::vector<NamedVariable> read_variables(const JsonView& view);

}  // namespace strato
