#include "core/plugin/use/import_model.h"

#include <memory>

#include "core/graph/train/training_choice.h"

namespace strato {

Graph import_model(const PluginRegistry& plugins, const std::filesystem::path& file,
                   const ImportOptions& options, std::vector<std::string>* remarks) {
  const std::unique_ptr<Importer> importer = plugins.importer_for(file);
  Graph graph = importer->import(file, options);
  if (remarks != nullptr) *remarks = importer->remarks();
  if (!options.trainable.empty() || !options.frozen.empty())
    graph = with_frozen(graph, options.trainable, options.frozen);
  return options.precision ? in_mixed_precision(graph, *options.precision) : graph;
}

}  // namespace strato
