#include "core/data/convert.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/error.h"

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
      return static_cast<double>(element_at<_Float16>(elements, index));
    case DataType::BF16:
      return std::bit_cast<float>(
          static_cast<std::uint32_t>(element_at<std::uint16_t>(elements, index)) << 16);
    default:
      CHECK(false, "an integer as a floating-point number");
  }
}

// False: it does not fit.
bool append_integer(std::string& out, std::int64_t value, DataType to) {
  const auto as = [&]<class T>(T narrow) {
    append(out, narrow);
    return static_cast<std::int64_t>(narrow) == value;
  };
  switch (to) {
    case DataType::I64:
      return as(value);
    case DataType::I32:
      return as(static_cast<std::int32_t>(value));
    case DataType::I16:
      return as(static_cast<std::int16_t>(value));
    case DataType::I8:
      return as(static_cast<std::int8_t>(value));
    case DataType::U8:
      return as(static_cast<std::uint8_t>(value));
    default:
      return as(static_cast<std::uint8_t>(value != 0));
  }
}

}  // namespace

bool widens(DataType from, DataType to) {
  if (from == to) return true;
  if (is_floating(from) != is_floating(to)) return false;
  if (!is_floating(from) && from == DataType::U8) return size_of(to) > 1;
  if (!is_floating(from) && to == DataType::U8) return from == DataType::Bool;
  if (to == DataType::Bool) return false;
  return from == DataType::Bool || size_of(from) < size_of(to);
}

bool may_fit(DataType from, DataType to) { return !is_floating(from) && !is_floating(to); }

std::int64_t integer_at(std::string_view elements, std::size_t index, DataType type) {
  switch (type) {
    case DataType::I64:
      return element_at<std::int64_t>(elements, index);
    case DataType::I32:
      return element_at<std::int32_t>(elements, index);
    case DataType::I16:
      return element_at<std::int16_t>(elements, index);
    case DataType::I8:
      return element_at<std::int8_t>(elements, index);
    case DataType::U8:
    case DataType::Bool:
      return element_at<std::uint8_t>(elements, index);
    default:
      CHECK(false, "a floating-point number as an integer");
  }
}

std::optional<std::string> converted(std::string_view elements, DataType from, DataType to) {
  const std::size_t count = elements.size() / static_cast<std::size_t>(size_of(from));
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
  if (!is_floating(type)) return false;
  const std::size_t count = elements.size() / static_cast<std::size_t>(size_of(type));
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(real_at(elements, i, type))) return true;
  }
  return false;
}

}  // namespace strato
