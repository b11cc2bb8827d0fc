#include "core/plugin/load/library.h"

#include <dlfcn.h>

#include <string>

#include "core/base/error.h"

namespace strato {

// Never closed: objects and type information of the plugin may outlive any one user.
void* Libraries::load(const std::filesystem::path& library) {
  void*& handle = handles_[library];
  if (handle != nullptr) return handle;
  if (!std::filesystem::exists(library)) {
    throw InputError(library.string(), "", "is not there, though its plugin.json is",
                     "build or install the plugin again");
  }
  handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw InputError(library.string(), "", std::string("cannot be loaded: ") + ::dlerror(),
                     "build the plugin against this Stratoscope");
  }
  return handle;
}

void* Libraries::symbol(const std::filesystem::path& library, const char* name) {
  const std::lock_guard lock(mutex_);
  void* address = ::dlsym(load(library), name);
  if (address == nullptr) {
    throw InputError(library.string(), "", std::string("has no function ") + name,
                     "build the plugin with the macro of its kind (core/plugin/api/plugin.h)");
  }
  return address;
}

}  // namespace strato
