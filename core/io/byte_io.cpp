#include "core/io/byte_io.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace strato {

void ByteReader::damaged(const char* how) const {
  throw InputError(file_, fmt::format("byte {}", at_),
                   std::string(words_.thing) + " is damaged: " + how, words_.remedy);
}

}  // namespace strato
