#include "plugins/transports/nccl/data_type.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace strato::nccl_transport {

ncclDataType_t sum_type_of(DataType type) {
  switch (type) {
    case DataType::F64:
      return ncclFloat64;
    case DataType::F32:
      return ncclFloat32;
    case DataType::F16:
      return ncclFloat16;
    case DataType::BF16:
      return ncclBfloat16;
    case DataType::I64:
      return ncclInt64;
    case DataType::I32:
      return ncclInt32;
    case DataType::I8:
      return ncclInt8;
    case DataType::U8:
      return ncclUint8;
    case DataType::I16:
    case DataType::Bool:
      break;
  }
  throw InputError("", "a reduction",
                   fmt::format("NCCL does not add values of type {}", name_of(type)),
                   "take a strategy that does not replicate what makes them");
}

}  // namespace strato::nccl_transport
