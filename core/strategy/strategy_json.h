// The groups of a strategy as JSON, shared by strategy and plan files. Private to this folder.
#pragma once

#include "core/base/json.h"
#include "core/strategy/strategy_file.h"

namespace strato {

Json groups_to_json(const NamedStrategy& strategy);      // a list
NamedStrategy groups_from_json(const JsonView& groups);  // of that list

}  // namespace strato
