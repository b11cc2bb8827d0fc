// The interpreter has a rule per op type, from known inputs to outputs; this is what rules share.
// Include in .cpp files only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/importers/onnx/fold/fold.h"

namespace strato::onnx_import {

struct FoldInput {
  const onnx::NodeProto& node;
  const std::vector<const Value*>& in;

  const Value* input(std::size_t i) const { return i < in.size() ? in[i] : nullptr; }
  // A list given as an attribute (older op sets) or as input i (newer ones).
  std::optional<std::vector<std::int64_t>> list(std::string_view attribute, std::size_t i) const;
};

using FoldResult = std::vector<Value>;  // empty: cannot be folded
using FoldRule = FoldResult (*)(const FoldInput&);
using FoldRules = std::map<std::string, FoldRule, std::less<>>;

// Integers wrap on overflow, as they do on every machine that runs a model.
inline std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }
inline std::uint64_t bits(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Elements of a shape, when they may be folded.
std::optional<std::size_t> foldable_count(const Shape& shape);
std::optional<int> axis_in(std::int64_t axis, std::size_t rank);
std::vector<std::int64_t> strides_of(const Shape& shape);  // row-major, in elements
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// A value of `shape` whose element i is element source[i] of `from`.
Value gathered(const Value& from, Shape shape, const std::vector<std::size_t>& source);

// Returns, for each element of `shape`, the index of the element of a value of shape `from` that
// broadcasts to it.
std::vector<std::size_t> broadcast_source(const Shape& from, const Shape& shape);

}  // namespace strato::onnx_import
