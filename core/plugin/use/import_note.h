// A note says how a model was imported, beyond its batch; plans and workspaces store it. Include in
// .cpp files only.
#pragma once

#include "core/io/json.h"
#include "core/plugin/api/plugin.h"

namespace strato {

// Adds "dimensions" and "batch_axis" where they are not the default.
inline void note_import(const ImportOptions& import, Json& json) {
  if (!import.dimensions.empty()) json["dimensions"] = import.dimensions;
  if (import.batch_axis != 0) json["batch_axis"] = import.batch_axis;
}

// Throws InputError for numbers that no import could have.
inline ImportOptions noted_import(const JsonView& noted, std::int64_t batch) {
  ImportOptions import;
  import.batch = batch;
  if (const auto axis = noted.find("batch_axis"))
    import.batch_axis = static_cast<std::size_t>(axis->integer(0, 7));
  if (const auto dimensions = noted.find("dimensions")) {
    for (const auto& [name, value] : dimensions->members())
      import.dimensions[name] = value.integer(0);
  }
  return import;
}

}  // namespace strato
