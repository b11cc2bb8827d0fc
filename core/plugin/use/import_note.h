// A note says how a model was imported, beyond its batch; plans and workspaces store it. Include in
// .cpp files only.
#pragma once

#include "core/io/json.h"
#include "core/plugin/api/plugin.h"

namespace strato {

// Adds "dimensions" and "batch_axis" where they are not the default.
void note_import(const ImportOptions& import, Json& json);

// Throws InputError for numbers that no import could have.
ImportOptions noted_import(const JsonView& noted, std::int64_t batch);

}  // namespace strato
