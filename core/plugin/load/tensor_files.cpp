#include "core/plugin/load/tensor_files.h"

#include <utility>

#include "core/base/error.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

template <class Function>
Function* function_of(const PluginInfo& plugin, const char* name) {
  return reinterpret_cast<Function*>(function_in(plugin.library, name));
}

PluginInfo pytorch(const PluginRegistry& plugins, const fs::path& file) {
  for (PluginInfo& plugin : plugins.list(PluginKind::Engine))
    if (plugin.name == "torch") return std::move(plugin);
  throw InputError(file.string(), "", "needs LibTorch, without which this program was built",
                   "use .npy files, which need nothing");
}

}  // namespace

std::unique_ptr<TensorSource> open_weights(const PluginRegistry& plugins, const fs::path& model,
                                           const ImportOptions& options) {
  using Open = TensorSource*(const fs::path*, const ImportOptions*);
  void* const open =
      find_function_in(plugins.importer_info_for(model).library, "stratoscope_open_weights");
  if (open == nullptr) return nullptr;
  return std::unique_ptr<TensorSource>(reinterpret_cast<Open*>(open)(&model, &options));
}

std::unique_ptr<TensorSource> open_pytorch(const PluginRegistry& plugins, const fs::path& file) {
  using Open = TensorSource*(const fs::path*);
  return std::unique_ptr<TensorSource>(
      function_of<Open>(pytorch(plugins, file), "stratoscope_open_pytorch")(&file));
}

void write_pytorch(const PluginRegistry& plugins, const fs::path& file,
                   const TensorSource& tensors) {
  using Write = void(const fs::path*, const TensorSource*);
  function_of<Write>(pytorch(plugins, file), "stratoscope_write_pytorch")(&file, &tensors);
}

}  // namespace strato
