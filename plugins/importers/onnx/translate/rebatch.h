// A file with a batch built into its constants, planned at another batch: shapes that were written
// as numbers are scaled by comparing with the file's own batch. Include in .cpp files only.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

struct BatchChange {
  std::int64_t from = 1, to = 1;
};

// A target shape that was the same number list at the old batch: `old_result` is what it made
// there. Nothing when the list needs no change. `stretched`: the shape of what is repeated to the
// target and did not follow the batch; samples are then on an axis that is repeated once for each.
std::optional<Shape> rebatched_target(const Shape& target, const Shape& old_result,
                                      BatchChange change, const Shape* stretched = nullptr);

// Tells whether a tensor's size followed the batch, or did not depend on it.
bool consistent(const Shape& old_shape, const Shape& new_shape, BatchChange change);

}  // namespace strato::onnx_import
