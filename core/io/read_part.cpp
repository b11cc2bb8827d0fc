#include "core/io/read_part.h"

#include <algorithm>
#include <fstream>

namespace strato {

std::string read_part(const std::filesystem::path& file, std::uint64_t from, std::size_t most) {
  constexpr std::size_t kBlock = 1 << 20;  // memory is taken for what is there
  std::ifstream stream(file, std::ios::binary);
  std::string content;
  if (!stream.seekg(static_cast<std::streamoff>(from))) return content;
  while (stream && content.size() < most) {
    const std::size_t had = content.size(), block = std::min(most - had, kBlock);
    content.resize(had + block);
    stream.read(content.data() + had, static_cast<std::streamsize>(block));
    content.resize(had + static_cast<std::size_t>(stream.gcount()));
  }
  return content;
}

}  // namespace strato
