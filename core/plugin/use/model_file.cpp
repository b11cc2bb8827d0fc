#include "core/plugin/use/model_file.h"

#include "core/base/error.h"
#include "core/io/json.h"
#include "core/plugin/load/plugin_registry.h"

namespace strato {

bool describes_model(const JsonView& root) {
  if (!root.is_object() || root.find("format")) return false;
  return root.find("model_type").has_value() || root.find("architectures").has_value();
}

bool has_importer(const PluginRegistry& plugins, const std::filesystem::path& file) {
  try {
    plugins.importer_info_for(file);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

void refuse_unknown_file(const std::filesystem::path& file) {
  throw InputError(
      file.string(), "", "is not a model, cluster, plan, profile or workspace",
      "give .onnx, .pt2, .json, .strata, a script (.sh) or configuration (.toml) of a "
      "training framework, a trace of a profiler, or what machines or Slurm write of themselves");
}

}  // namespace strato
