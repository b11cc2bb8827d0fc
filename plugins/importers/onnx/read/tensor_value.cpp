#include "plugins/importers/onnx/read/tensor_value.h"

#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>
#include <string_view>

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
        value.reals.push_back(bfloat_value(element_at<std::uint16_t>(bytes, i)));
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
        value.reals.push_back(bfloat_value(static_cast<std::uint16_t>(bits)));
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
