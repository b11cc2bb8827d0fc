#include "plugins/importers/onnx/value.h"

#include <onnx/onnx_pb.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "plugins/importers/onnx/external_data.h"

namespace strato::onnx_import {
namespace {

using onnx::TensorProto;

template <class T>
void append(std::string& out, T element) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&element), sizeof element);
}

// IEEE half precision, by scaling: exact for every value that it holds.
std::uint16_t half_bits(double element) {
  const std::uint16_t sign = std::signbit(element) ? 0x8000 : 0;
  const double size = std::fabs(element);
  if (std::isnan(element)) return sign | 0x7e00;
  if (size >= 65520.0) return sign | 0x7c00;
  if (size < 0x1p-14) return static_cast<std::uint16_t>(sign | std::lrint(size * 0x1p24));
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent);  // in [0.5, 1)
  const long mantissa = std::lrint(fraction * 2048);  // in [1024, 2048]: a carry moves the exponent
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + (mantissa - 1024)));
}

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  double size = exponent == 0 ? mantissa * 0x1p-24 : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) {
    size = mantissa == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -size : size;
}

double brain_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
std::uint16_t brain_bits(double element) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(element));
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
T element_at(std::string_view bytes, std::size_t i) {
  T element;
  std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
  return element;
}

template <class T>
void read_raw_as(std::string_view bytes, std::size_t count, std::vector<std::int64_t>& ints) {
  for (std::size_t i = 0; i < count; ++i) {
    ints.push_back(static_cast<std::int64_t>(element_at<T>(bytes, i)));
  }
}

bool read_raw(std::string_view bytes, int type, std::size_t count, Value& value) {
  if (raw_size(type) == 0 || bytes.size() != raw_size(type) * count) return false;
  switch (type) {
    case TensorProto::INT64:
    case TensorProto::UINT64:
      read_raw_as<std::int64_t>(bytes, count, value.ints);
      return true;
    case TensorProto::INT32:
      read_raw_as<std::int32_t>(bytes, count, value.ints);
      return true;
    case TensorProto::UINT32:
      read_raw_as<std::uint32_t>(bytes, count, value.ints);
      return true;
    case TensorProto::INT16:
      read_raw_as<std::int16_t>(bytes, count, value.ints);
      return true;
    case TensorProto::UINT16:
      read_raw_as<std::uint16_t>(bytes, count, value.ints);
      return true;
    case TensorProto::INT8:
      read_raw_as<std::int8_t>(bytes, count, value.ints);
      return true;
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      read_raw_as<std::uint8_t>(bytes, count, value.ints);
      return true;
    default:
      break;
  }
  for (std::size_t i = 0; i < count; ++i) {
    switch (type) {
      case TensorProto::FLOAT:
        value.reals.push_back(element_at<float>(bytes, i));
        break;
      case TensorProto::DOUBLE:
        value.reals.push_back(element_at<double>(bytes, i));
        break;
      case TensorProto::FLOAT16:
        value.reals.push_back(half_value(element_at<std::uint16_t>(bytes, i)));
        break;
      default:
        value.reals.push_back(brain_value(element_at<std::uint16_t>(bytes, i)));
        break;
    }
  }
  return true;
}

template <class Field>
void read_ints(const Field& field, Value& value) {
  value.ints.assign(field.begin(), field.end());
}
template <class Field>
void read_reals(const Field& field, Value& value) {
  value.reals.assign(field.begin(), field.end());
}

// Elements in the field that ONNX has for their type.
bool read_typed(const TensorProto& tensor, std::size_t count, Value& value) {
  switch (tensor.data_type()) {
    case TensorProto::INT64:
      read_ints(tensor.int64_data(), value);
      break;
    case TensorProto::UINT64:
    case TensorProto::UINT32:
      read_ints(tensor.uint64_data(), value);
      break;
    case TensorProto::INT32:
    case TensorProto::INT16:
    case TensorProto::INT8:
    case TensorProto::UINT16:
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      read_ints(tensor.int32_data(), value);
      break;
    case TensorProto::FLOAT:
      read_reals(tensor.float_data(), value);
      break;
    case TensorProto::DOUBLE:
      read_reals(tensor.double_data(), value);
      break;
    case TensorProto::FLOAT16:
      for (const int bits : tensor.int32_data()) {
        value.reals.push_back(half_value(static_cast<std::uint16_t>(bits)));
      }
      break;
    case TensorProto::BFLOAT16:
      for (const int bits : tensor.int32_data()) {
        value.reals.push_back(brain_value(static_cast<std::uint16_t>(bits)));
      }
      break;
    default:
      return false;
  }
  return value.size() == count;
}

// The tensor's bytes in the file that it names. Empty: not there.
std::string read_external(const TensorProto& tensor, std::size_t bytes,
                          const std::filesystem::path& folder) {
  const ExternalPlace place = external_place(tensor, folder);
  if (!place.problem.empty()) return {};
  std::ifstream stream(place.file, std::ios::binary);
  std::string content(bytes, '\0');
  stream.seekg(static_cast<std::streamoff>(place.offset));
  stream.read(content.data(), static_cast<std::streamsize>(bytes));
  return stream.gcount() == static_cast<std::streamsize>(bytes) ? content : std::string();
}

}  // namespace

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

std::optional<std::int64_t> element_count(const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) empty = true;
    if (extent > 0 && count > kMost / extent) return std::nullopt;
    if (extent > 0) count *= extent;
  }
  return empty ? 0 : count;
}

Value integers(std::vector<std::int64_t> elements) {
  Value value;
  value.shape = {static_cast<std::int64_t>(elements.size())};
  value.ints = std::move(elements);
  return value;
}

Value scalar(DataType type, double element) {
  Value value;
  value.type = type;
  if (value.floating())
    value.reals = {rounded(element, type)};
  else
    value.ints = {static_cast<std::int64_t>(element)};
  return value;
}

std::shared_ptr<const Value> read_value(const TensorProto& tensor,
                                        const std::filesystem::path& folder) {
  const std::optional<DataType> type = data_type_of(tensor.data_type());
  auto value = std::make_shared<Value>();
  value->shape.assign(tensor.dims().begin(), tensor.dims().end());
  const std::optional<std::int64_t> count = element_count(value->shape);
  if (!type || !count || *count > static_cast<std::int64_t>(kMaxDataBytes)) return nullptr;
  value->type = *type;
  const auto elements = static_cast<std::size_t>(*count);
  if (elements * static_cast<std::size_t>(size_of(*type)) > kMaxDataBytes) return nullptr;
  bool complete = false;
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    const std::size_t bytes = elements * raw_size(tensor.data_type());
    complete = read_raw(read_external(tensor, bytes, folder), tensor.data_type(), elements, *value);
  } else if (tensor.has_raw_data()) {
    complete = read_raw(tensor.raw_data(), tensor.data_type(), elements, *value);
  } else {
    complete = read_typed(tensor, elements, *value);
  }
  return complete ? value : nullptr;
}

void write_value(const Value& value, TensorProto& tensor) {
  tensor.set_data_type(onnx_type_of(value.type));
  for (const std::int64_t extent : value.shape) tensor.add_dims(extent);
  switch (value.type) {
    case DataType::I64:
      for (const std::int64_t element : value.ints) tensor.add_int64_data(element);
      break;
    case DataType::F32:
      for (const double element : value.reals) tensor.add_float_data(static_cast<float>(element));
      break;
    case DataType::F64:
      for (const double element : value.reals) tensor.add_double_data(element);
      break;
    case DataType::F16:
    case DataType::BF16:
      tensor.set_raw_data(little_endian(value));
      break;
    default:
      for (const std::int64_t element : value.ints) {
        tensor.add_int32_data(static_cast<std::int32_t>(element));
      }
  }
}

std::string little_endian(const Value& value) {
  std::string out;
  out.reserve(value.size() * static_cast<std::size_t>(size_of(value.type)));
  for (const double element : value.reals) {
    if (value.type == DataType::F64) append(out, element);
    if (value.type == DataType::F32) append(out, static_cast<float>(element));
    if (value.type == DataType::F16) append(out, half_bits(element));
    if (value.type == DataType::BF16) append(out, brain_bits(element));
  }
  for (const std::int64_t element : value.ints) {
    out.append(reinterpret_cast<const char*>(&element),
               static_cast<std::size_t>(size_of(value.type)));
  }
  return out;
}

double rounded(double element, DataType type) {
  switch (type) {
    case DataType::F32:
      return static_cast<float>(element);
    case DataType::F16:
      return half_value(half_bits(element));
    case DataType::BF16:
      return brain_value(brain_bits(element));
    default:
      return element;
  }
}

}  // namespace strato::onnx_import
