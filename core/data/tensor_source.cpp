#include "core/data/tensor_source.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/half.h"

namespace strato {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
T element_at(std::string_view elements, std::size_t index) {
  T element;
  std::memcpy(&element, elements.data() + index * sizeof(T), sizeof(T));
  return element;
}

template <class T>
void append(std::string& out, T element) {
  out.append(reinterpret_cast<const char*>(&element), sizeof element);
}

double real_at(std::string_view elements, std::size_t index, DataType type) {
  switch (type) {
    case DataType::F64:
      return element_at<double>(elements, index);
    case DataType::F32:
      return element_at<float>(elements, index);
    case DataType::F16:
      return half_value(element_at<std::uint16_t>(elements, index));
    case DataType::BF16:
      return bfloat_value(element_at<std::uint16_t>(elements, index));
    default:
      CHECK(false, "an integer as a floating-point number");
  }
}

// Calls f with a value of an integer type's C++ type.
template <class F>
auto with_integer(DataType type, F f) {
  switch (type) {
    case DataType::I64:
      return f(std::int64_t{});
    case DataType::I32:
      return f(std::int32_t{});
    case DataType::I16:
      return f(std::int16_t{});
    case DataType::I8:
      return f(std::int8_t{});
    case DataType::U8:
    case DataType::Bool:
      return f(std::uint8_t{});
    default:
      CHECK(false, "a floating-point number as an integer");
  }
}

// False: it does not fit.
bool append_integer(std::string& out, std::int64_t value, DataType to) {
  return with_integer(to, [&]<class T>(T) {
    const T narrow = to == DataType::Bool ? static_cast<T>(value != 0) : static_cast<T>(value);
    append(out, narrow);
    return static_cast<std::int64_t>(narrow) == value;
  });
}

std::size_t count_of(std::string_view elements, DataType type) {
  return elements.size() / static_cast<std::size_t>(size_of(type));
}

}  // namespace

std::int64_t bytes_of(const StoredTensor& tensor) {
  std::int64_t bytes = size_of(tensor.type);
  for (const std::int64_t extent : tensor.shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  return bytes;
}

bool widens(DataType from, DataType to) {
  if (from == to) return true;
  if (is_floating(from) != is_floating(to)) return false;
  if (!is_floating(from) && from == DataType::U8) return size_of(to) > 1;
  if (!is_floating(from) && to == DataType::U8) return from == DataType::Bool;
  if (to == DataType::Bool) return false;
  return from == DataType::Bool || size_of(from) < size_of(to);
}

std::int64_t integer_at(std::string_view elements, std::size_t index, DataType type) {
  return with_integer(type,
                      [&]<class T>(T) -> std::int64_t { return element_at<T>(elements, index); });
}

std::optional<std::string> converted(std::string_view elements, DataType from, DataType to) {
  const std::size_t count = count_of(elements, from);
  std::string out;
  out.reserve(count * static_cast<std::size_t>(size_of(to)));
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_floating(from)) {
      if (!append_integer(out, integer_at(elements, i, from), to)) return std::nullopt;
    } else if (to == DataType::F64) {
      append(out, real_at(elements, i, from));
    } else {
      CHECK(to == DataType::F32, "a floating-point number as a narrower one");
      append(out, static_cast<float>(real_at(elements, i, from)));
    }
  }
  return out;
}

bool has_not_finite(std::string_view elements, DataType type) {
  const std::size_t count = is_floating(type) ? count_of(elements, type) : 0;
  for (std::size_t i = 0; i < count; ++i)
    if (!std::isfinite(real_at(elements, i, type))) return true;
  return false;
}

}  // namespace strato
