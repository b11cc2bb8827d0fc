// Tensors whose elements are known when the file is read: what shape arithmetic works on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"

namespace onnx {
class TensorProto;
}

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

// ONNX element type -> ours. Unsigned and packed types become the signed or wider type of (at
// least) their size; nothing for text and for numbers that name no type.
std::optional<DataType> data_type_of(int onnx_type);
int onnx_type_of(DataType type);

// Number of elements, or nothing for a negative extent or more than 2^62 bytes at 8 bytes an
// element.
std::optional<std::int64_t> element_count(const Shape& shape);

Value integers(std::vector<std::int64_t> elements);  // a vector of int64
Value scalar(DataType type, double element);         // rank 0

// The elements, when the message holds all of them (or a file in `folder` does) and they fit
// kMaxDataBytes.
std::shared_ptr<const Value> read_value(const onnx::TensorProto& tensor,
                                        const std::filesystem::path& folder);
void write_value(const Value& value, onnx::TensorProto& tensor);

// Bytes of one element in raw_data and in external files; 0: not supported.
std::size_t raw_size(int onnx_type);

std::string little_endian(const Value& value);  // as Tensor::data has it
double rounded(double element, DataType type);  // to the precision of a floating-point type

}  // namespace strato::onnx_import
