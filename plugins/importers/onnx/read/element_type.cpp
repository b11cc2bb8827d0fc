#include "plugins/importers/onnx/read/element_type.h"

#include <onnx/onnx_pb.h>

namespace strato::onnx_import {

using onnx::TensorProto;

std::size_t raw_size(int type) {
  switch (type) {
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::DOUBLE:
      return 8;
    case TensorProto::INT32:
    case TensorProto::UINT32:
    case TensorProto::FLOAT:
      return 4;
    case TensorProto::INT16:
    case TensorProto::UINT16:
      return 2;
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return 2;
    case TensorProto::INT8:
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      return 1;
    default:
      return 0;
  }
}

std::optional<DataType> data_type_of(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX64:
    case TensorProto::COMPLEX128:
      return DataType::F64;
    case TensorProto::FLOAT:
      return DataType::F32;
    case TensorProto::FLOAT16:
      return DataType::F16;
    case TensorProto::BFLOAT16:
      return DataType::BF16;
    case TensorProto::INT64:
    case TensorProto::UINT64:
      return DataType::I64;
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return DataType::I32;
    case TensorProto::INT16:
    case TensorProto::UINT16:
      return DataType::I16;
    case TensorProto::INT8:
      return DataType::I8;
    case TensorProto::UINT8:
      return DataType::U8;
    case TensorProto::BOOL:
      return DataType::Bool;
    case 17:
    case 18:
    case 19:
    case 20:  // 8-bit floating point, since IR version 9
    case 21:
    case 22:
    case 23:  // 4 bits, since IR version 10
      return DataType::U8;
    default:
      return std::nullopt;
  }
}

int onnx_type_of(DataType type) {
  switch (type) {
    case DataType::F64:
      return TensorProto::DOUBLE;
    case DataType::F32:
      return TensorProto::FLOAT;
    case DataType::F16:
      return TensorProto::FLOAT16;
    case DataType::BF16:
      return TensorProto::BFLOAT16;
    case DataType::I64:
      return TensorProto::INT64;
    case DataType::I32:
      return TensorProto::INT32;
    case DataType::I16:
      return TensorProto::INT16;
    case DataType::I8:
      return TensorProto::INT8;
    case DataType::U8:
      return TensorProto::UINT8;
    case DataType::Bool:
      return TensorProto::BOOL;
  }
  return TensorProto::UNDEFINED;
}

}  // namespace strato::onnx_import
