// A container whose digest is right, whatever it says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/digest.h"
#include "core/io/byte_io.h"

namespace strato {

struct ForgedContainer {
  std::string_view kind;
  std::uint8_t codec = 0;
  std::uint32_t version = 1;
  std::string stored = "\x01";  // the number 1
  std::uint64_t size = 1;

  std::string bytes() const {
    ByteWriter out;
    out.number(std::uint8_t{1}).number(codec).number(version).text(kind);
    out.number(size).number(std::uint64_t{stored.size()});
    const std::string content = "\x89STRATO\n" + std::move(out).take() + stored;
    const Digest digest = digest_of(content);
    ByteWriter tail;
    tail.number(digest.high).number(digest.low);
    return content + std::move(tail).take();
  }
};

}  // namespace strato
