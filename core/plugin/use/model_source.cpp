#include "core/plugin/use/model_source.h"

#include <fmt/format.h>

#include "core/graph/build/graph_file.h"
#include "core/io/json.h"
#include "core/plugin/use/import_note.h"

namespace strato {

ModelSource model_from(const StoredModel& row, const std::string& file) {
  const std::string place = fmt::format("{}: model \"{}\"", file, row.name);
  ModelSource model;
  model.path = row.path;
  model.name = row.name;
  model.graph = std::make_shared<const Graph>(parse_graph(row.content, place));
  model.import.batch = model.graph->batch();
  if (row.options.empty()) return model;
  const JsonView options = JsonView::parse(row.options, place);
  model.import = noted_import(options, model.graph->batch());
  if (const auto training = options.find("training")) model.options.training = training->boolean();
  if (const auto optimizer = options.find("optimizer"))
    model.options.optimizer = optimizer_from(optimizer->string());
  if (const auto groups = options.find("groups"))
    model.options.grouping.max_groups = static_cast<int>(groups->integer(1, kMostGroups));
  if (const auto grouping = options.find("grouping"))
    model.grouping = grouping_method_from(grouping->string());
  return model;
}

StoredModel row_of(const ModelSource& model, const Problem& problem) {
  Json options = {{"batch", model.graph->batch()},
                  {"training", model.options.training},
                  {"optimizer", std::string(name_of(model.options.optimizer))},
                  {"groups", model.options.grouping.max_groups}};
  if (model.grouping != GroupingMethod::Metis)
    options["grouping"] = std::string(name_of(model.grouping));
  note_import(model.import, options);
  return {0,
          model.name,
          model.path.empty() ? ""  // made in memory
                             : std::filesystem::absolute(model.path).lexically_normal().string(),
          json_text(options),
          problem.graph->digest(),
          serialise(*model.graph)};
}

StoredCluster row_of(const Cluster& cluster) {
  return {0, cluster.name(), cluster.json(), cluster.digest()};
}

}  // namespace strato
