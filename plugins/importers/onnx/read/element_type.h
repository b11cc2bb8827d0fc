// ONNX's element types and the graph's.
#pragma once

#include <cstddef>
#include <optional>

#include "core/graph/value/graph.h"

namespace strato::onnx_import {

// ONNX element type -> ours. Unsigned and packed types become the signed or wider type of (at
// least) their size; nothing for text and for numbers that name no type.
std::optional<DataType> data_type_of(int onnx_type);
int onnx_type_of(DataType type);

// Bytes of one element in raw_data and in external files; 0: not supported.
std::size_t raw_size(int onnx_type);

}  // namespace strato::onnx_import
