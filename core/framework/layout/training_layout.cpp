#include "core/framework/layout/training_layout.h"

#include <algorithm>

#include "core/base/at.h"

namespace strato::frameworks {

std::vector<Block> even_blocks(std::int32_t layers, std::int32_t blocks) {
  std::vector<Block> result(at(blocks), Block{.layers = layers / blocks});
  result.front().embedding = true;
  result.back().head = true;
  return result;
}

bool is_even(const std::vector<Block>& blocks) {
  std::int32_t layers = 0;
  for (const Block& block : blocks) layers += block.layers;
  const auto count = static_cast<std::int32_t>(blocks.size());
  return layers % count == 0 && blocks == even_blocks(layers, count);
}

}  // namespace strato::frameworks
