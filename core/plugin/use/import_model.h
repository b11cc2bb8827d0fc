// From a model file to the forward graph that a person asked for. Thread-safe, as far as the
// registry is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"

namespace strato {

// What the importer of the file makes, with what of it is trained, and in which precision. Throws
// InputError, and UnboundDimension as importers do. `remarks`, if there is one, gets the
// importer's.
Graph import_model(const PluginRegistry& plugins, const std::filesystem::path& file,
                   const ImportOptions& options, std::vector<std::string>* remarks = nullptr);

}  // namespace strato
