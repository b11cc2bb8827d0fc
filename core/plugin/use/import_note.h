// A note says how a model was imported, beyond its batch; plans and workspaces store it. Include in
// .cpp files only.
#pragma once

#include <utility>

#include "core/graph/build/copy_graph.h"
#include "core/io/json.h"
#include "core/plugin/api/plugin.h"

namespace strato {

// Adds "dimensions", "batch_axis", "precision", "trainable" and "frozen" where they are not the
// default.
inline void note_import(const ImportOptions& import, Json& json) {
  if (!import.dimensions.empty()) json["dimensions"] = import.dimensions;
  if (import.batch_axis != 0) json["batch_axis"] = import.batch_axis;
  if (import.precision) json["precision"] = std::string(name_of(*import.precision));
  if (!import.trainable.empty()) json["trainable"] = import.trainable;
  if (!import.frozen.empty()) json["frozen"] = import.frozen;
}

// Throws InputError for what no import could have.
inline ImportOptions noted_import(const JsonView& noted, std::int64_t batch) {
  ImportOptions import;
  import.batch = batch;
  if (const auto axis = noted.find("batch_axis"))
    import.batch_axis = static_cast<std::size_t>(axis->integer(0, 7));
  if (const auto dimensions = noted.find("dimensions")) {
    for (const auto& [name, value] : dimensions->members())
      import.dimensions[name] = value.integer(0);
  }
  if (const auto precision = noted.find("precision"))
    import.precision = precision_from(precision->string());
  for (const auto& [key, patterns] :
       {std::pair{"trainable", &import.trainable}, {"frozen", &import.frozen}}) {
    if (const auto list = noted.find(key))
      for (const JsonView& pattern : list->items()) patterns->push_back(pattern.string());
  }
  return import;
}

}  // namespace strato
