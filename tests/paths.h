// Where the sources and the build are. In a library of its own, so that no other object file
// depends on the folder that it was compiled in: a compiler cache serves every checkout.
#pragma once

namespace strato {

extern const char* const kSourceFolder;
extern const char* const kBuildFolder;
// Whether what is tested has the sanitizers' checks, and is slower. Tests themselves are compiled
// without.
extern const bool kSanitized;

}  // namespace strato
