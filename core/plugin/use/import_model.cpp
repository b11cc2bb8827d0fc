#include "core/plugin/use/import_model.h"

#include "core/graph/train/training_choice.h"

namespace strato {

Graph import_model(const PluginRegistry& plugins, const std::filesystem::path& file,
                   const ImportOptions& options) {
  Graph graph = plugins.importer_for(file)->import(file, options);
  if (!options.trainable.empty() || !options.frozen.empty())
    graph = with_frozen(graph, options.trainable, options.frozen);
  return options.precision ? in_mixed_precision(graph, *options.precision) : graph;
}

}  // namespace strato
