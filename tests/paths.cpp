#include "tests/paths.h"

namespace strato {

const char* const kSourceFolder = STRATO_SOURCE_DIR;
const char* const kBuildFolder = STRATO_BINARY_DIR;

}  // namespace strato
