#include "plugins/importers/onnx/translate/rebatch.h"

#include <algorithm>

namespace strato::onnx_import {
namespace {

bool is_repeated(const Shape& from, std::size_t axis, std::size_t rank) {
  const std::size_t missing = rank - std::min(rank, from.size());
  return axis < missing || from[axis - missing] == 1;
}

}  // namespace

std::optional<Shape> rebatched_target(const Shape& target, const Shape& old_result,
                                      BatchChange change, const Shape* stretched) {
  if (target.size() != old_result.size()) return std::nullopt;
  // Samples are the outermost factor: the first extent that they divide is theirs.
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (old_result[i] == 0 || old_result[i] % change.from != 0) continue;
    const bool repeats_samples =
        stretched == nullptr ||
        (old_result[i] == change.from && is_repeated(*stretched, i, target.size()));
    if (!repeats_samples) continue;
    if (target[i] != old_result[i]) return std::nullopt;  // -1 or 0: follows by itself
    Shape result = target;
    result[i] = old_result[i] / change.from * change.to;
    return result;
  }
  return std::nullopt;
}

bool consistent(const Shape& old_shape, const Shape& new_shape, BatchChange change) {
  const std::optional<std::int64_t> before = element_count(old_shape),
                                    after = element_count(new_shape);
  if (!before || !after || *before == *after) return before && after;
  return static_cast<__int128>(*before) * change.to == static_cast<__int128>(*after) * change.from;
}

}  // namespace strato::onnx_import
