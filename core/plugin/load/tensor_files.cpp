#include "core/plugin/load/tensor_files.h"

#include <string>

#include "core/base/error.h"
#include "core/plugin/load/library.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

template <class Function>
Function* function_of(const PluginInfo& plugin, const char* name) {
  return reinterpret_cast<Function*>(function_in(plugin.library, name));
}

const char* const kPytorchPlugin = "torch";

template <class Function>
Function* pytorch_function(const PluginRegistry& plugins, const fs::path& file, const char* name) {
  for (const PluginInfo& plugin : plugins.list(PluginKind::Engine)) {
    if (plugin.name == kPytorchPlugin) return function_of<Function>(plugin, name);
  }
  throw InputError(file.string(), "", "needs LibTorch, without which this program was built",
                   "use .npy files, which need nothing");
}

}  // namespace

std::unique_ptr<TensorSource> open_weights(const PluginRegistry& plugins, const fs::path& model,
                                           const ImportOptions& options) {
  using Open = TensorSource*(const fs::path*, const ImportOptions*);
  return std::unique_ptr<TensorSource>(function_of<Open>(
      plugins.importer_info_for(model), "stratoscope_open_weights")(&model, &options));
}

std::unique_ptr<TensorSource> open_pytorch(const PluginRegistry& plugins, const fs::path& file) {
  using Open = TensorSource*(const fs::path*);
  return std::unique_ptr<TensorSource>(
      pytorch_function<Open>(plugins, file, "stratoscope_open_pytorch")(&file));
}

void write_pytorch(const PluginRegistry& plugins, const fs::path& file,
                   const TensorSource& tensors) {
  using Write = void(const fs::path*, const TensorSource*);
  pytorch_function<Write>(plugins, file, "stratoscope_write_pytorch")(&file, &tensors);
}

}  // namespace strato
