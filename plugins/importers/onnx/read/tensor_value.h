// The elements of a tensor in an ONNX message, or in a file beside the model, and back.
#pragma once

#include <filesystem>
#include <memory>

#include "plugins/importers/onnx/read/value.h"

namespace onnx {
class TensorProto;
}

namespace strato::onnx_import {

// The elements, when the message holds all of them (or a file in `folder` does) and they fit
// kMaxDataBytes.
std::shared_ptr<const Value> read_value(const onnx::TensorProto& tensor,
                                        const std::filesystem::path& folder);
void write_value(const Value& value, onnx::TensorProto& tensor);

}  // namespace strato::onnx_import
