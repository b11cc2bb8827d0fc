#include "plugins/importers/onnx/read/value.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/base/half.h"
#include "core/base/number_from.h"
#include "core/io/read_part.h"

namespace strato::onnx_import {
namespace {

namespace fs = std::filesystem;
using onnx::TensorProto;

template <class T>
void append(std::string& out, T element, std::size_t bytes = sizeof(T)) {
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(&element), bytes);
}

// ---- ONNX's element types

// Appends elements of type T that lie one after the other.
template <class T, auto convert = std::identity()>
void read_as(std::string_view bytes, Value& value) {
  for (; bytes.size() >= sizeof(T); bytes.remove_prefix(sizeof(T))) {
    T bits;
    std::memcpy(&bits, bytes.data(), sizeof(T));
    const auto element = convert(bits);
    if constexpr (std::is_floating_point_v<decltype(element)>)
      value.reals.push_back(element);
    else
      value.ints.push_back(static_cast<std::int64_t>(element));
  }
}

struct ElementType {
  int onnx;
  DataType type;
  void (*read)(std::string_view bytes, Value& value);  // as they are in memory; null: not supported
};

// The first one of each of our types is what it becomes in ONNX.
constexpr ElementType kTypes[] = {
    {TensorProto::DOUBLE, DataType::F64, read_as<double>},
    {TensorProto::FLOAT, DataType::F32, read_as<float>},
    {TensorProto::FLOAT16, DataType::F16, read_as<std::uint16_t, half_value>},
    {TensorProto::BFLOAT16, DataType::BF16, read_as<std::uint16_t, bfloat_value>},
    {TensorProto::INT64, DataType::I64, read_as<std::int64_t>},
    {TensorProto::INT32, DataType::I32, read_as<std::int32_t>},
    {TensorProto::INT16, DataType::I16, read_as<std::int16_t>},
    {TensorProto::INT8, DataType::I8, read_as<std::int8_t>},
    {TensorProto::UINT8, DataType::U8, read_as<std::uint8_t>},
    {TensorProto::BOOL, DataType::Bool, read_as<std::uint8_t>},
    {TensorProto::UINT64, DataType::I64, read_as<std::int64_t>},
    {TensorProto::UINT32, DataType::I32, read_as<std::uint32_t>},
    {TensorProto::UINT16, DataType::I16, read_as<std::uint16_t>},
    {TensorProto::COMPLEX64, DataType::F64, nullptr},
    {TensorProto::COMPLEX128, DataType::F64, nullptr},
};
constexpr int kFirstSmall = 17, kLastSmall = 26;  // of 8 bits or less, since IR version 9

const ElementType* find_type(int onnx_type) {
  const auto* found = std::ranges::find(kTypes, onnx_type, &ElementType::onnx);
  return found != std::end(kTypes) ? found : nullptr;
}

// Elements in the field that ONNX has for their type: small integers and the bits of short
// floating-point numbers are in one.
void read_typed(const TensorProto& tensor, const ElementType& type, Value& value) {
  const auto& words = tensor.int32_data();
  if (type.onnx == TensorProto::INT64)
    value.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
  else if (type.onnx == TensorProto::UINT64 || type.onnx == TensorProto::UINT32)
    value.ints.assign(tensor.uint64_data().begin(), tensor.uint64_data().end());
  else if (type.onnx == TensorProto::FLOAT)
    value.reals.assign(tensor.float_data().begin(), tensor.float_data().end());
  else if (type.onnx == TensorProto::DOUBLE)
    value.reals.assign(tensor.double_data().begin(), tensor.double_data().end());
  else if (!value.floating())
    value.ints.assign(words.begin(), words.end());
  else
    for (const std::int32_t bits : words)
      type.read({reinterpret_cast<const char*>(&bits), sizeof(std::uint16_t)}, value);
}

// The tensor's bytes in the file that it names; fewer than `bytes`: they are not there.
std::string read_external(const TensorProto& tensor, std::size_t bytes, const fs::path& folder) {
  const ExternalPlace place = external_place(tensor, folder);
  if (!place.problem.empty()) return {};
  return read_part(place.file, place.offset, bytes);
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

}  // namespace

Facts known(Value value) {
  auto shared = std::make_shared<const Value>(std::move(value));
  return {shared->type, shared->shape, shared};
}

std::optional<std::int64_t> element_count(const Shape& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 59;
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && count > kMost / extent)) return std::nullopt;
    if (extent == 0)
      empty = true;
    else
      count *= extent;
  }
  return empty ? 0 : count;
}

Value integers(std::vector<std::int64_t> elements) {
  return {DataType::I64, {std::ssize(elements)}, std::move(elements), {}};
}

Value whole_number(std::int64_t element) { return {DataType::I64, {}, {element}, {}}; }

Value scalar(DataType type, double element) {
  if (is_floating(type)) return {type, {}, {}, {rounded(element, type)}};
  return {type, {}, {static_cast<std::int64_t>(element)}, {}};
}

std::string little_endian(const Value& value) {
  const auto width = static_cast<std::size_t>(size_of(value.type));
  std::string out;
  out.reserve(value.size() * width);
  for (const double element : value.reals) {
    if (value.type == DataType::F64) append(out, element);
    if (value.type == DataType::F32) append(out, static_cast<float>(element));
    if (value.type == DataType::F16) append(out, nearest_half_bits(element));
    if (value.type == DataType::BF16) append(out, nearest_bfloat_bits(element));
  }
  for (const std::int64_t element : value.ints) append(out, element, width);
  return out;
}

double rounded(double element, DataType type) {
  if (type == DataType::F32) return static_cast<float>(element);
  if (type == DataType::F16) return half_value(nearest_half_bits(element));
  if (type == DataType::BF16) return bfloat_value(nearest_bfloat_bits(element));
  return element;
}

bool is_readable(int onnx_type) {
  const ElementType* known = find_type(onnx_type);
  return known != nullptr && known->read != nullptr;
}

std::optional<DataType> data_type_of(int onnx_type) {
  if (const ElementType* known = find_type(onnx_type)) return known->type;
  if (onnx_type >= kFirstSmall && onnx_type <= kLastSmall) return DataType::U8;
  return std::nullopt;
}

int onnx_type_of(DataType type) {
  return std::ranges::find(kTypes, type, &ElementType::type)->onnx;  // each is there
}

const ExternalPlace& ExternalFiles::found(const std::string& given) {
  const auto [at, fresh] = found_.try_emplace(given);
  ExternalPlace& place = at->second;
  if (!fresh) return place;
  const fs::path location = fs::path(given).lexically_normal();
  std::error_code error;
  const fs::path home = fs::canonical(folder_.empty() ? "." : folder_, error);
  place.file = fs::weakly_canonical(home / location, error);
  const std::string name = "\"" + location.string() + "\"";
  if (location.empty() || location.is_absolute() || error || !is_below(place.file, home)) {
    place.problem = name + " is not in the model's folder";
  } else if (!fs::is_regular_file(place.file, error)) {
    place.problem = name + " is not there";
    place.absent = true;
  }
  return place;
}

ExternalPlace ExternalFiles::place_of(const TensorProto& tensor) {
  std::string location;
  std::optional<std::uint64_t> offset = 0, length;
  bool numbers = true;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    const bool is_offset = entry.key() == "offset";
    if (!is_offset && entry.key() != "length") continue;
    std::optional<std::uint64_t>& number = is_offset ? offset : length;
    number = number_from<std::uint64_t>(entry.value());
    numbers = numbers && number.has_value();
  }
  ExternalPlace place = found(location);
  place.offset = offset.value_or(0);
  place.length = length;
  if (place.problem.empty() && !numbers) place.problem = "its offset or length is no number";
  return place;
}

ExternalPlace external_place(const TensorProto& tensor, const fs::path& folder) {
  return ExternalFiles(folder).place_of(tensor);
}

std::shared_ptr<const Value> read_value(const TensorProto& tensor, const fs::path& folder) {
  const ElementType* type = find_type(tensor.data_type());
  Shape shape(tensor.dims().begin(), tensor.dims().end());
  const std::optional<std::int64_t> count = element_count(shape);
  if (!is_readable(tensor.data_type()) || !count) return nullptr;
  const auto elements = static_cast<std::size_t>(*count);
  const std::size_t bytes = elements * static_cast<std::size_t>(size_of(type->type));
  if (bytes > kMaxDataBytes) return nullptr;
  auto value = std::make_shared<Value>(Value{type->type, std::move(shape), {}, {}});
  const bool external = tensor.data_location() == TensorProto::EXTERNAL;
  if (external || tensor.has_raw_data()) {
    const std::string raw = external ? read_external(tensor, bytes, folder) : tensor.raw_data();
    if (raw.size() != bytes) return nullptr;
    type->read(raw, *value);
  } else {
    read_typed(tensor, *type, *value);
  }
  return value->size() == elements ? value : nullptr;
}

void write_value(const Value& value, TensorProto& tensor) {
  tensor.set_data_type(onnx_type_of(value.type));
  for (const std::int64_t extent : value.shape) tensor.add_dims(extent);
  tensor.set_raw_data(little_endian(value));
}

}  // namespace strato::onnx_import
