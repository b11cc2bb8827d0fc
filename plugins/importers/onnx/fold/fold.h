// Constant folding: a small interpreter for the ops that exporters use to compute shapes, masks and
// positions. It only ever answers when the answer is certain; an op that it does not fold stays in
// the graph.
#pragma once

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

// The node's outputs from its inputs (null: left out), or nothing. Accepts the attributes of older
// op sets and the inputs of newer ones alike.
std::vector<Value> fold(const onnx::NodeProto& node, const std::vector<const Value*>& inputs);

// ---- for the rules, of which every op type has one

using Int = std::int64_t;

constexpr Int kMaxFoldedElements = 1 << 20;  // of one value

// A rule throws this when it cannot fold its node; fold() catches it.
struct NotFolded {};
inline void need(bool condition) {
  if (!condition) throw NotFolded();
}
template <class T>
T needed(std::optional<T> value) {
  need(value.has_value());
  return *std::move(value);
}

struct FoldInput {
  const onnx::NodeProto& node;
  const std::vector<const Value*>& in;

  const Value* find(std::size_t i) const { return i < in.size() ? in[i] : nullptr; }
  const Value& at(std::size_t i) const;  // needs it
  // A list given as an attribute (older op sets) or as input i (newer ones).
  std::optional<std::vector<Int>> list(std::string_view attribute, std::size_t i) const;
  std::size_t axis(std::size_t rank) const;  // the attribute, 0 if there is none
};

using FoldRule = Value (*)(const FoldInput&);
struct FoldedTypes {
  FoldRule rule;
  std::vector<std::string_view> types;
};
using FoldRules = std::vector<FoldedTypes>;

const FoldRules& moving_rules();                  // elements that get another shape or place
std::vector<Value> split(const FoldInput& fold);  // the one op of several outputs

// The sum, or what else a (reducing) op makes of two elements. Integers wrap on overflow, as they
// do on every machine that runs a model.
template <class T>
T combined(std::string_view op, T a, T b) {
  using Wrapping = std::conditional_t<std::is_same_v<T, Int>, std::uint64_t, T>;
  const auto x = static_cast<Wrapping>(a), y = static_cast<Wrapping>(b);
  if (op == "Min" || op == "ReduceMin") return std::min(a, b);
  if (op == "Max" || op == "ReduceMax") return std::max(a, b);
  if (op == "Mul" || op == "ReduceProd") return static_cast<T>(x * y);
  if (op == "Sub") return static_cast<T>(x - y);
  return static_cast<T>(x + y);
}

// These need a shape that may be folded, a place or an axis in range, and shapes that fit.
std::size_t foldable_count(const Shape& shape);  // its elements
Int place_in(Int place, Int extent);             // negative ones count from the end
std::size_t axis_in(Int axis, std::size_t rank);
std::vector<Int> strides_of(const Shape& shape);  // row-major, in elements
// Returns, for each element of `shape`, the sum over the axes of its index times the axis's step.
std::vector<std::size_t> places(const Shape& shape, const std::vector<Int>& steps);
// Returns, for each element of `shape`, the index of the element of a value of shape `from` that
// broadcasts to it.
std::vector<std::size_t> broadcast_source(const Shape& from, const Shape& shape);

// Values of these shapes, broadcast together: element i is made of their elements at[...][i].
struct Broadcast {
  explicit Broadcast(std::initializer_list<Shape> shapes);
  std::size_t size() const { return at[0].size(); }

  Shape shape;
  std::vector<std::vector<std::size_t>> at;  // by value
};

// A value of `shape` whose element i is element source[i] of `from`.
Value gathered(const Value& from, Shape shape, const std::vector<std::size_t>& source);

}  // namespace strato::onnx_import
