#include "plugins/transports/gloo/sums.h"

#include <fmt/format.h>
#include <gloo/types.h>

#include <cstdint>
#include <cstring>

#include "core/base/error.h"

namespace strato::gloo_transport {
namespace {

template <class T>
void add(void* to, const void* a, const void* b, std::size_t count) {
  T* sum = static_cast<T*>(to);
  const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
  for (std::size_t i = 0; i < count; ++i) sum[i] = static_cast<T>(left[i] + right[i]);
}

struct BrainFloat {
  std::uint16_t bits = 0;

  operator float() const {
    const std::uint32_t wide = std::uint32_t{bits} << 16;
    float value = 0;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  explicit BrainFloat(float value) {
    std::uint32_t wide = 0;
    std::memcpy(&wide, &value, sizeof wide);
    const bool not_a_number = (wide & 0x7fffffff) > 0x7f800000;
    const std::uint32_t rounded = wide + 0x7fff + ((wide >> 16) & 1);
    bits = static_cast<std::uint16_t>((not_a_number ? wide | 0x400000 : rounded) >> 16);
  }
};

}  // namespace

SumFunction sum_of(DataType type) {
  switch (type) {
    case DataType::F64:
      return add<double>;
    case DataType::F32:
      return add<float>;
    case DataType::F16:
      return add<gloo::float16>;
    case DataType::BF16:
      return add<BrainFloat>;
    case DataType::I64:
      return add<std::int64_t>;
    case DataType::I32:
      return add<std::int32_t>;
    case DataType::I16:
      return add<std::int16_t>;
    case DataType::I8:
      return add<std::int8_t>;
    case DataType::U8:
      return add<std::uint8_t>;
    case DataType::Bool:
      break;
  }
  throw InputError("", "transport gloo", fmt::format("does not sum {}", name_of(type)),
                   "plan without a reduction of such a tensor");
}

}  // namespace strato::gloo_transport
