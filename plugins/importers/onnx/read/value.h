// Tensors whose elements are known when the file is read: what shape arithmetic works on.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"

namespace strato::onnx_import {

// Floating-point elements are in `reals` (rounded to the type's precision), all others in `ints`.
struct Value {
  DataType type = DataType::I64;
  Shape shape;
  std::vector<std::int64_t> ints;
  std::vector<double> reals;

  bool floating() const { return is_floating(type); }
  std::size_t size() const { return floating() ? reals.size() : ints.size(); }
  double real(std::size_t i) const { return floating() ? reals[i] : static_cast<double>(ints[i]); }
  void push(const Value& from, std::size_t i) {  // element i of a value of the same type
    floating() ? reals.push_back(from.reals[i]) : ints.push_back(from.ints[i]);
  }
};

// Calls f with the lists of elements that two values of one type have.
template <class F>
void with_elements(const Value& a, Value& b, const F& f) {
  a.floating() ? f(a.reals, b.reals) : f(a.ints, b.ints);
}

struct Facts {  // what is known about a tensor
  DataType type = DataType::F32;
  Shape shape;
  std::shared_ptr<const Value> value;  // null unless all elements are known
};
Facts known(Value value);

constexpr std::size_t kMaxDataBytes =
    64 * 1024;  // of a constant that keeps its elements in the graph

// Number of elements, or nothing for a negative extent or more than 2^62 bytes at 8 bytes an
// element.
std::optional<std::int64_t> element_count(const Shape& shape);

Value integers(std::vector<std::int64_t> elements);  // a vector of int64
Value scalar(DataType type, double element);         // rank 0

std::string little_endian(const Value& value);  // as Tensor::data has it
double rounded(double element, DataType type);  // to the precision of a floating-point type

// Numbers of two bytes: IEEE half precision and bfloat16.
inline double half_value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<_Float16>(bits));
}
inline double bfloat_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace strato::onnx_import
