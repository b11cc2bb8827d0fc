// Where the sources and the build are. In a library of its own, so that no other object file
// depends on the folder that it was compiled in: a compiler cache serves every checkout.
#pragma once

namespace strato {

extern const char* const kSourceFolder;
extern const char* const kBuildFolder;

}  // namespace strato
