#include "plugins/importers/onnx/read/tensor_value.h"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <type_traits>

#include "plugins/importers/onnx/read/element_type.h"
#include "plugins/importers/onnx/read/external_data.h"
#include "plugins/importers/onnx/read/half.h"

namespace strato::onnx_import {
namespace {

using onnx::TensorProto;

template <class T>
T element_at(std::string_view bytes, std::size_t i) {
  T element;
  std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
  return element;
}

template <class T>
bool read_raw_as(std::string_view bytes, Value& value) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      value.reals.push_back(element_at<T>(bytes, i));
    else
      value.ints.push_back(static_cast<std::int64_t>(element_at<T>(bytes, i)));
  }
  return true;
}

bool read_short_reals(std::string_view bytes, double (*value_of)(std::uint16_t), Value& value) {
  for (std::size_t i = 0; i < bytes.size() / 2; ++i)
    value.reals.push_back(value_of(element_at<std::uint16_t>(bytes, i)));
  return true;
}

bool read_raw(std::string_view bytes, int type, std::size_t count, Value& value) {
  if (raw_size(type) == 0 || bytes.size() != raw_size(type) * count) return false;
  switch (type) {
    case TensorProto::INT64:
    case TensorProto::UINT64:
      return read_raw_as<std::int64_t>(bytes, value);
    case TensorProto::INT32:
      return read_raw_as<std::int32_t>(bytes, value);
    case TensorProto::UINT32:
      return read_raw_as<std::uint32_t>(bytes, value);
    case TensorProto::INT16:
      return read_raw_as<std::int16_t>(bytes, value);
    case TensorProto::UINT16:
      return read_raw_as<std::uint16_t>(bytes, value);
    case TensorProto::INT8:
      return read_raw_as<std::int8_t>(bytes, value);
    case TensorProto::FLOAT:
      return read_raw_as<float>(bytes, value);
    case TensorProto::DOUBLE:
      return read_raw_as<double>(bytes, value);
    case TensorProto::FLOAT16:
      return read_short_reals(bytes, half_value, value);
    case TensorProto::BFLOAT16:
      return read_short_reals(bytes, bfloat_value, value);
    default:
      return read_raw_as<std::uint8_t>(bytes, value);  // and booleans
  }
}

// Elements in the field that ONNX has for their type: small integers and the bits of short
// floating-point numbers are in one.
bool read_typed(const TensorProto& tensor, std::size_t count, Value& value) {
  const auto& words = tensor.int32_data();
  const auto short_reals = [&](double (*value_of)(std::uint16_t)) {
    for (const int bits : words) value.reals.push_back(value_of(static_cast<std::uint16_t>(bits)));
  };
  const int type = tensor.data_type();
  if (raw_size(type) == 0) return false;
  if (type == TensorProto::INT64)
    value.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
  else if (type == TensorProto::UINT64 || type == TensorProto::UINT32)
    value.ints.assign(tensor.uint64_data().begin(), tensor.uint64_data().end());
  else if (type == TensorProto::FLOAT)
    value.reals.assign(tensor.float_data().begin(), tensor.float_data().end());
  else if (type == TensorProto::DOUBLE)
    value.reals.assign(tensor.double_data().begin(), tensor.double_data().end());
  else if (type == TensorProto::FLOAT16)
    short_reals(half_value);
  else if (type == TensorProto::BFLOAT16)
    short_reals(bfloat_value);
  else
    value.ints.assign(words.begin(), words.end());
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

}  // namespace strato::onnx_import
