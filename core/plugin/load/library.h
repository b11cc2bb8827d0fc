// Private to core/plugin: shared libraries are loaded on first use and stay until the program ends.
#pragma once

#include <filesystem>

namespace strato {

// The address of a C function in the library. Throws InputError when either is not there.
// Thread-safe.
void* function_in(const std::filesystem::path& library, const char* name);

}  // namespace strato
