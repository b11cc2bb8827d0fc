#include "tests/paths.h"

namespace strato {

const char* const kSourceFolder = STRATO_SOURCE_DIR;
const char* const kBuildFolder = STRATO_BINARY_DIR;
#ifdef __SANITIZE_ADDRESS__
const bool kSanitized = true;
#else
const bool kSanitized = false;
#endif

}  // namespace strato
