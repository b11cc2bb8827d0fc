#include "core/plugin/load/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/base/error.h"

namespace strato {

// Never closed: objects and type information of the plugin may outlive any one user. What is loaded
// is not loaded again.
void* function_in(const std::filesystem::path& library, const char* name) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr && !std::filesystem::exists(library))
    throw InputError(library.string(), "", "is not there, though its plugin.json is",
                     "build or install the plugin again");
  if (handle == nullptr)
    throw InputError(library.string(), "", fmt::format("cannot be loaded: {}", ::dlerror()),
                     "build the plugin against this Stratoscope");
  void* address = ::dlsym(handle, name);
  if (address == nullptr)
    throw InputError(library.string(), "", fmt::format("has no function {}", name),
                     "build the plugin with the macro of its kind (core/plugin/api/plugin.h)");
  return address;
}

}  // namespace strato
