#include "plugins/importers/onnx/read/element_type.h"

#include <onnx/onnx_pb.h>

namespace strato::onnx_import {
namespace {

using onnx::TensorProto;

struct ElementType {
  int onnx;
  DataType type;
  std::size_t raw_bytes;  // 0: not supported
};

// The first one of each of our types is what it becomes in ONNX.
constexpr ElementType kTypes[] = {
    {TensorProto::DOUBLE, DataType::F64, 8},     {TensorProto::FLOAT, DataType::F32, 4},
    {TensorProto::FLOAT16, DataType::F16, 2},    {TensorProto::BFLOAT16, DataType::BF16, 2},
    {TensorProto::INT64, DataType::I64, 8},      {TensorProto::INT32, DataType::I32, 4},
    {TensorProto::INT16, DataType::I16, 2},      {TensorProto::INT8, DataType::I8, 1},
    {TensorProto::UINT8, DataType::U8, 1},       {TensorProto::BOOL, DataType::Bool, 1},
    {TensorProto::UINT64, DataType::I64, 8},     {TensorProto::UINT32, DataType::I32, 4},
    {TensorProto::UINT16, DataType::I16, 2},     {TensorProto::COMPLEX64, DataType::F64, 0},
    {TensorProto::COMPLEX128, DataType::F64, 0},
};
constexpr int kFirstSmall = 17, kLastSmall = 23;  // of 8 bits since IR version 9, of 4 since 10

}  // namespace

std::size_t raw_size(int onnx_type) {
  for (const ElementType& known : kTypes)
    if (known.onnx == onnx_type) return known.raw_bytes;
  return 0;
}

std::optional<DataType> data_type_of(int onnx_type) {
  for (const ElementType& known : kTypes)
    if (known.onnx == onnx_type) return known.type;
  if (onnx_type >= kFirstSmall && onnx_type <= kLastSmall) return DataType::U8;
  return std::nullopt;
}

int onnx_type_of(DataType type) {
  for (const ElementType& known : kTypes)
    if (known.type == type) return known.onnx;
  return TensorProto::UNDEFINED;
}

}  // namespace strato::onnx_import
