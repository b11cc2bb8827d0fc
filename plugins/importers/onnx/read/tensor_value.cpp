#include "plugins/importers/onnx/read/tensor_value.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>

namespace strato::onnx_import {
namespace {

namespace fs = std::filesystem;
using onnx::TensorProto;

// Appends what `convert` makes of elements of type T that lie one after the other.
template <class T, class To, class Convert = std::identity>
void read_as(std::string_view bytes, std::vector<To>& to, Convert convert = {}) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof(T));
    to.push_back(static_cast<To>(convert(element)));
  }
}
using Read = void (*)(std::string_view bytes, Value& value);
template <class T>
constexpr Read ints = [](std::string_view bytes, Value& value) { read_as<T>(bytes, value.ints); };
template <class T>
constexpr Read reals = [](std::string_view bytes, Value& value) { read_as<T>(bytes, value.reals); };
template <double (*value_of)(std::uint16_t)>
constexpr Read halves = [](std::string_view bytes, Value& value) {
  read_as<std::uint16_t>(bytes, value.reals, value_of);
};

struct ElementType {
  int onnx;
  DataType type;
  std::size_t raw_bytes;  // 0: not supported
  Read read;
};

// The first one of each of our types is what it becomes in ONNX.
constexpr ElementType kTypes[] = {
    {TensorProto::DOUBLE, DataType::F64, 8, reals<double>},
    {TensorProto::FLOAT, DataType::F32, 4, reals<float>},
    {TensorProto::FLOAT16, DataType::F16, 2, halves<half_value>},
    {TensorProto::BFLOAT16, DataType::BF16, 2, halves<bfloat_value>},
    {TensorProto::INT64, DataType::I64, 8, ints<std::int64_t>},
    {TensorProto::INT32, DataType::I32, 4, ints<std::int32_t>},
    {TensorProto::INT16, DataType::I16, 2, ints<std::int16_t>},
    {TensorProto::INT8, DataType::I8, 1, ints<std::int8_t>},
    {TensorProto::UINT8, DataType::U8, 1, ints<std::uint8_t>},
    {TensorProto::BOOL, DataType::Bool, 1, ints<std::uint8_t>},
    {TensorProto::UINT64, DataType::I64, 8, ints<std::int64_t>},
    {TensorProto::UINT32, DataType::I32, 4, ints<std::uint32_t>},
    {TensorProto::UINT16, DataType::I16, 2, ints<std::uint16_t>},
    {TensorProto::COMPLEX64, DataType::F64, 0, nullptr},
    {TensorProto::COMPLEX128, DataType::F64, 0, nullptr},
};
constexpr int kFirstSmall = 17, kLastSmall = 23;  // of 8 bits since IR version 9, of 4 since 10

const ElementType* find_type(int onnx_type) {
  const auto* found = std::ranges::find(kTypes, onnx_type, &ElementType::onnx);
  return found != std::end(kTypes) ? found : nullptr;
}

bool read_raw(std::string_view bytes, int type, std::size_t count, Value& value) {
  if (raw_size(type) == 0 || bytes.size() != raw_size(type) * count) return false;
  find_type(type)->read(bytes, value);
  return true;
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
std::string read_external(const TensorProto& tensor, std::size_t bytes, const fs::path& folder) {
  const ExternalPlace place = external_place(tensor, folder);
  if (!place.problem.empty()) return {};
  std::ifstream stream(place.file, std::ios::binary);
  std::string content(bytes, '\0');
  stream.seekg(static_cast<std::streamoff>(place.offset));
  stream.read(content.data(), static_cast<std::streamsize>(bytes));
  return stream.gcount() == static_cast<std::streamsize>(bytes) ? content : std::string();
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

}  // namespace

std::size_t raw_size(int onnx_type) {
  const ElementType* known = find_type(onnx_type);
  return known != nullptr ? known->raw_bytes : 0;
}

std::optional<DataType> data_type_of(int onnx_type) {
  if (const ElementType* known = find_type(onnx_type)) return known->type;
  if (onnx_type >= kFirstSmall && onnx_type <= kLastSmall) return DataType::U8;
  return std::nullopt;
}

int onnx_type_of(DataType type) {
  return std::ranges::find(kTypes, type, &ElementType::type)->onnx;  // each is there
}

ExternalPlace external_place(const TensorProto& tensor, const fs::path& folder) {
  ExternalPlace place;
  fs::path location;
  bool numbers = true;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = fs::path(entry.value()).lexically_normal();
    const bool is_offset = entry.key() == "offset";
    if (!is_offset && entry.key() != "length") continue;
    const auto number = number_in(entry.value());
    numbers = numbers && number.has_value();
    if (is_offset) place.offset = number.value_or(0);
    if (!is_offset) place.length = number;
  }
  std::error_code error;
  const fs::path home = fs::canonical(folder.empty() ? "." : folder, error);
  place.file = fs::weakly_canonical(home / location, error);
  const std::string name = "\"" + location.string() + "\"";
  if (location.empty() || location.is_absolute() || error || !is_below(place.file, home)) {
    place.problem = name + " is not in the model's folder";
  } else if (!fs::is_regular_file(place.file, error)) {
    place.problem = name + " is not there";
    place.absent = true;
  } else if (!numbers) {
    place.problem = "its offset or length is no number";
  }
  return place;
}

std::shared_ptr<const Value> read_value(const TensorProto& tensor, const fs::path& folder) {
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
  tensor.set_raw_data(little_endian(value));
}

}  // namespace strato::onnx_import
