// The op catalogue knows an op type by an OpRule, the row of a family's table. It is a value; its
// rules are pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/graph/value/op_reader.h"

namespace strato {

class BatchFlow;       // batch_rules.h
class GradientWriter;  // gradient_rules.h

struct TensorType {
  DataType type = DataType::F32;
  Shape shape;
};

// Outputs' types from the inputs'; empty when they cannot be told.
using ShapeRule = std::function<std::vector<TensorType>(const OpReader&)>;
using FlopsRule = std::function<double(const OpReader&)>;
using KernelRule = std::function<int(const OpReader&)>;
// The first output's layout, given that some input is Batched and none is Partial; nothing: not
// splittable.
using BatchRule = std::function<std::optional<BatchLayout>(BatchFlow&)>;
using GradientRule = std::function<void(GradientWriter&)>;

// An op may pass sums over the batch (Partial) through.
enum class Linearity : std::uint8_t {
  None,   // needs the full sum
  Joint,  // linear when all its floating-point inputs are Partial (a + b)
  First,  // linear in its first input alone (a / b)
  Each,   // linear in any one input (a * b)
};

using InputSet = std::uint32_t;  // bit i: input i
constexpr InputSet inputs(std::initializer_list<int> indices) {
  InputSet set = 0;
  for (const int i : indices) set |= InputSet{1} << i;
  return set;
}
constexpr InputSet all_inputs = ~InputSet{0};
constexpr bool contains(InputSet set, std::size_t i) { return (set >> (i < 31 ? i : 31)) & 1; }

struct OpRule {
  std::string_view type = {};
  OpFamily family = OpFamily::Other;
  std::size_t min_inputs = 1;
  ShapeRule shape = {};  // null: one output like the first input
  FlopsRule flops = {};  // null: none
  BatchRule batch = {};  // null: never splittable
  Linearity linear = Linearity::None;
  GradientRule gradient = {};             // null: not differentiable
  InputSet differentiable = inputs({0});  // inputs that `gradient` can serve
  double gradient_work = 1;               // FLOPs of one gradient op over the forward op's
  InputSet lookups = 0;     // inputs of which only as much as the output holds is read
  InputSet unread = 0;      // inputs whose elements are not read at all
  KernelRule kernels = {};  // null: one
  bool view = false;
  bool side_outputs = false;  // outputs past the first are by-products (masks, statistics)
};

using OpRules = std::vector<OpRule>;  // the table of a family of op types

}  // namespace strato
