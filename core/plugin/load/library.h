// Private to core/plugin: shared libraries are loaded on first use and stay until the program ends.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>

namespace strato {

class Libraries {
 public:
  // The address of a C function in the library. Throws InputError when either is not there.
  // Thread-safe.
  void* symbol(const std::filesystem::path& library, const char* name);

 private:
  void* load(const std::filesystem::path& library);

  std::mutex mutex_;
  std::map<std::filesystem::path, void*> handles_;
};

}  // namespace strato
