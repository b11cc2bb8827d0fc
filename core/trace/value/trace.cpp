#include "core/trace/value/trace.h"

#include <array>

namespace strato::trace {

const char* name_of(Format format) {
  constexpr std::array<const char*, 5> names = {"Kineto", "Chrome trace", "PyTorch execution trace",
                                                "Chakra", "Nsight Systems"};
  return names[static_cast<std::size_t>(format)];
}

}  // namespace strato::trace
