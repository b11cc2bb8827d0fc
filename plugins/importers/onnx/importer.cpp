// The plugin's entry: an ONNX file becomes a forward graph, in four steps (read, bind, translate,
// build).
#include <memory>
#include <string_view>

#include "core/plugin/api/plugin.h"
#include "core/plugin/load/tensor_files.h"
#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/build.h"
#include "plugins/importers/onnx/read/read_model.h"
#include "plugins/importers/onnx/translate/translate.h"
#include "plugins/importers/onnx/weights.h"

namespace strato::onnx_import {
namespace {

class OnnxImporter : public Importer {
 public:
  Graph import(const std::filesystem::path& file, const ImportOptions& options) override {
    const Model model = read_model(file);
    const Uses uses(model.proto.graph());
    const Binding binding = bind_inputs(model, uses, options);
    Translation translation = translate_at(model, uses, binding, options);
    spread_linear_layers(translation);
    return build_graph(translation, binding, file.stem().string(), model.file);
  }
};

std::unique_ptr<Importer> make(std::string_view) { return std::make_unique<OnnxImporter>(); }

}  // namespace
}  // namespace strato::onnx_import

STRATOSCOPE_IMPORTER(strato::onnx_import::make)
STRATOSCOPE_WEIGHTS(strato::onnx_import::open_weights)
