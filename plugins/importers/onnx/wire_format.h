// Tensor payloads are left out of a serialised model before protobuf sees it: a plan needs names,
// types and shapes only, protobuf refuses messages of 2 GB, and skipping bytes is far faster than
// copying them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace strato::onnx_import {

// A copy of a serialised ModelProto without the tensor data fields longer than `limit` bytes.
// Nothing when the bytes are no well-formed message. Linear time; memory in proportion to the
// result.
std::optional<std::string> without_payloads(std::string_view model, std::size_t limit);

}  // namespace strato::onnx_import
