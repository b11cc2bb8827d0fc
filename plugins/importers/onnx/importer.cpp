// The plugin's entry: an ONNX file becomes a forward graph, in four steps (read, bind, translate,
// build).
#include <memory>
#include <string_view>

#include "core/plugin/plugin.h"
#include "plugins/importers/onnx/bind.h"
#include "plugins/importers/onnx/build.h"
#include "plugins/importers/onnx/read_model.h"
#include "plugins/importers/onnx/spread.h"
#include "plugins/importers/onnx/translate.h"
#include "plugins/importers/onnx/uses.h"

namespace strato::onnx_import {
namespace {

class OnnxImporter : public Importer {
 public:
  Graph import(const std::filesystem::path& file, const ImportOptions& options) override {
    const Model model = read_model(file);
    const Uses uses(model.proto.graph());
    const Binding binding = bind_inputs(model, uses, options);
    const std::string name = file.stem().string();
    if (binding.file_batch == 0 || binding.file_batch == binding.batch) {
      return finished(translate(model, uses, binding, nullptr), binding, name, model.file);
    }
    ImportOptions as_stored = options;
    as_stored.batch.reset();
    const Translation original =
        translate(model, uses, bind_inputs(model, uses, as_stored), nullptr);
    return finished(translate(model, uses, binding, &original), binding, name, model.file);
  }

 private:
  static Graph finished(Translation translation, const Binding& binding, const std::string& name,
                        const std::string& file) {
    spread_linear_layers(translation);
    return build_graph(translation, binding, name, file);
  }
};

std::unique_ptr<Importer> make(std::string_view) { return std::make_unique<OnnxImporter>(); }

}  // namespace
}  // namespace strato::onnx_import

STRATOSCOPE_IMPORTER(strato::onnx_import::make)
