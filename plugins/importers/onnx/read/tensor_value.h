// ONNX's element types, and the elements of a tensor in an ONNX message, or in a file beside the
// model, and back. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

// ONNX element type -> ours. Unsigned and packed types become the signed or wider type of (at
// least) their size; nothing for text and for numbers that name no type.
std::optional<DataType> data_type_of(int onnx_type);
int onnx_type_of(DataType type);

// Bytes of one element in raw_data and in external files; 0: not supported.
std::size_t raw_size(int onnx_type);

struct ExternalPlace {  // a tensor's elements in a file beside the model
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // as the model says; nothing: it does not
  std::string problem;                  // in words; empty: the file is there
  bool absent = false;                  // the problem: there is no such file
};
// The file is in `folder` or below, also where links lead.
ExternalPlace external_place(const onnx::TensorProto& tensor, const std::filesystem::path& folder);

// The elements, when the message holds all of them (or a file in `folder` does) and they fit
// kMaxDataBytes.
std::shared_ptr<const Value> read_value(const onnx::TensorProto& tensor,
                                        const std::filesystem::path& folder);
void write_value(const Value& value, onnx::TensorProto& tensor);

}  // namespace strato::onnx_import
