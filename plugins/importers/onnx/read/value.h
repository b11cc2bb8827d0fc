// Tensors whose elements are known when the file is read: what shape arithmetic works on.
#pragma once

#include <cstddef>
#include <cstdint>
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
};

constexpr std::size_t kMaxDataBytes =
    64 * 1024;  // of a constant that keeps its elements in the graph

// Number of elements, or nothing for a negative extent or more than 2^62 bytes at 8 bytes an
// element.
std::optional<std::int64_t> element_count(const Shape& shape);

Value integers(std::vector<std::int64_t> elements);  // a vector of int64
Value scalar(DataType type, double element);         // rank 0

std::string little_endian(const Value& value);  // as Tensor::data has it
double rounded(double element, DataType type);  // to the precision of a floating-point type

}  // namespace strato::onnx_import
