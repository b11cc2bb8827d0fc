// The plugins as they are shipped, and the sample models as problems.
#pragma once

#include <string>

#include "core/plugin/api/plugin.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/core/search/toy.h"
#include "tests/paths.h"

namespace strato {

inline const PluginRegistry& registry() {
  static const PluginRegistry plugins({std::string(kBuildFolder) + "/plugins"});
  return plugins;
}

inline Graph sample_model(const std::string& model, std::int64_t batch) {
  const std::string file = std::string(kSourceFolder) + "/sample_graphs/models/" + model + ".onnx";
  ImportOptions options;
  options.batch = batch;
  return registry().importer_for(file)->import(file, options);
}

inline Problem sample(const std::string& model, std::int64_t batch, const std::string& cluster) {
  return make_problem(sample_model(model, batch), toy::sample_cluster(cluster), {});
}

}  // namespace strato
