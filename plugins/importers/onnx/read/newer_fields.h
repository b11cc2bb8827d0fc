// Reads what functions and their calls say in fields that came after the version of ONNX that is
// linked (1.12): protobuf holds unknown fields beside a message's own. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>

namespace strato::onnx_import {

// The call with the function's values for attributes that it does not give (ONNX 1.13).
onnx::NodeProto with_defaults(const onnx::NodeProto& call, const onnx::FunctionProto& function);
// Returns the bytes that with_defaults() reads.
std::size_t default_bytes(const onnx::FunctionProto& function);

// Tells functions of one name apart, and calls of them (ONNX 1.16); mostly empty.
std::string overload_of(const onnx::FunctionProto& function);
std::string overload_of(const onnx::NodeProto& call);

}  // namespace strato::onnx_import
