// Tensors whose elements are known when the file is read: what shape arithmetic works on. ONNX's
// element types; and the elements of a tensor in an ONNX message, or in a file beside the model,
// and back.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
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
  std::shared_ptr<const Value> value = nullptr;  // null unless all elements are known
};
Facts known(Value value);

// Of a constant that keeps its elements in the graph.
constexpr std::size_t kMaxDataBytes = std::size_t{64} * 1024;

// Number of elements, or nothing for a negative extent or more than 2^62 bytes at 8 bytes an
// element.
std::optional<std::int64_t> element_count(const Shape& shape);

Value integers(std::vector<std::int64_t> elements);  // a vector of int64
Value whole_number(std::int64_t element);            // an int64 of rank 0
Value scalar(DataType type, double element);         // rank 0

std::string little_endian(const Value& value);  // as Tensor::data has it
double rounded(double element, DataType type);  // to the precision of a floating-point type

// ---- in ONNX

// ONNX element type -> ours. Unsigned and packed types become the signed or wider type of (at
// least) their size; nothing for text and for numbers that name no type.
std::optional<DataType> data_type_of(int onnx_type);
int onnx_type_of(DataType type);

// Tells whether its elements can be read; in raw_data and in external files they then have the size
// of data_type_of()'s.
bool is_readable(int onnx_type);

struct ExternalPlace {  // a tensor's elements in a file beside the model
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // as the model says; nothing: it does not
  std::string problem;                  // in words; empty: the file is there
  bool absent = false;                  // the problem: there is no such file
};
// Finds tensors' elements in files in `folder` or below, also where links lead: looks for each file
// once. Not thread-safe.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ExternalPlace place_of(const onnx::TensorProto& tensor);

 private:
  const ExternalPlace& found(const std::string& location);

  std::filesystem::path folder_;
  std::unordered_map<std::string, ExternalPlace> found_;  // by location: the file, or its problem
};
ExternalPlace external_place(const onnx::TensorProto& tensor, const std::filesystem::path& folder);

// The elements, when the message holds all of them (or a file in `folder` does) and they fit
// kMaxDataBytes.
std::shared_ptr<const Value> read_value(const onnx::TensorProto& tensor,
                                        const std::filesystem::path& folder);
void write_value(const Value& value, onnx::TensorProto& tensor);

}  // namespace strato::onnx_import
