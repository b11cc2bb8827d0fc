#include "core/graph/value/graph.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "core/graph/value/name_table.h"

namespace strato {
namespace {

struct DataTypeInfo {
  std::string_view name;
  int size;
  bool floating;
  int onnx;
};
constexpr std::array<DataTypeInfo, 10> data_types = {{
    {"float64", 8, true, 11},
    {"float32", 4, true, 1},
    {"float16", 2, true, 10},
    {"bfloat16", 2, true, 16},
    {"int64", 8, false, 7},
    {"int32", 4, false, 6},
    {"int16", 2, false, 5},
    {"int8", 1, false, 3},
    {"uint8", 1, false, 2},
    {"bool", 1, false, 9},
}};
constexpr std::array<std::string_view, 3> split_names = {"concat", "sum", "none"};
constexpr std::array<std::string_view, 4> phase_names = {"forward", "loss", "backward", "update"};
constexpr std::array<std::string_view, 14> family_names = {
    "matmul",    "convolution", "elementwise",   "normalization", "softmax",
    "reduction", "pooling",     "data movement", "embedding",     "recurrent",
    "loss",      "update",      "view",          "other"};

template <class Table, class Enum>
const auto& entry(const Table& table, Enum value) {
  return table[static_cast<std::size_t>(value)];
}

// The attribute's value as T, or the fallback when it is absent or of another type.
template <class T>
T value_or(const Attribute* attribute, T fallback) {
  const T* value = attribute ? std::get_if<T>(attribute) : nullptr;
  return value ? *value : std::move(fallback);
}

}  // namespace

int size_of(DataType type) { return entry(data_types, type).size; }
std::string_view name_of(DataType type) { return entry(data_types, type).name; }
bool is_floating(DataType type) { return entry(data_types, type).floating; }
int onnx_number(DataType type) { return entry(data_types, type).onnx; }
std::string_view name_of(Splittability split) { return entry(split_names, split); }
std::string_view name_of(Phase phase) { return entry(phase_names, phase); }
std::string_view name_of(OpFamily family) { return entry(family_names, family); }

std::int64_t Tensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

const Attribute* Op::attribute(std::string_view key) const {
  const auto found = std::ranges::lower_bound(
      attributes, key, {}, [](const auto& each) -> std::string_view { return each.first; });
  return found != attributes.end() && found->first == key ? &found->second : nullptr;
}

std::int64_t Op::integer(std::string_view key, std::int64_t fallback) const {
  return value_or(attribute(key), fallback);
}
double Op::real(std::string_view key, double fallback) const {
  return value_or(attribute(key), fallback);
}
std::string Op::text(std::string_view key, std::string fallback) const {
  return value_or(attribute(key), std::move(fallback));
}
std::vector<std::int64_t> Op::integers(std::string_view key) const {
  return value_or(attribute(key), std::vector<std::int64_t>{});
}

OpId Graph::find_op(std::string_view name) const {
  const std::size_t size = ops_by_name_.size();
  std::size_t place = place_of_hash(std::hash<std::string_view>()(name), size);
  while (ops_by_name_[place].valid() && ops_[ops_by_name_[place]].name != name)
    place = place_behind(place, size);
  return ops_by_name_[place];
}

Bytes Graph::parameter_bytes() const {
  Bytes sum;
  for (const Tensor& tensor : tensors_)
    if (tensor.role == TensorRole::Parameter) sum += tensor.bytes();
  return sum;
}

}  // namespace strato
