#include "plugins/importers/onnx/fold/fold.h"

#include <cmath>
#include <limits>
#include <map>

#include "core/graph/value/op_reader.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

// ---- arithmetic, comparison, logic, casts and choices, element by element

Int to_int(double value) {
  need(std::fabs(value) < 0x1p63);
  return static_cast<Int>(value);
}

Int divided(Int a, Int b) {
  need(b != 0 && (b != -1 || a != std::numeric_limits<Int>::min()));
  return a / b;
}

Int modulo(Int a, Int b, bool like_c) {
  need(b != 0);
  if (b == -1) return 0;
  const Int rest = a % b;
  return !like_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Int math(std::string_view op, Int a, Int b, bool like_c) {
  if (op == "Div") return divided(a, b);
  if (op == "Mod") return modulo(a, b, like_c);
  if (op == "Pow") return to_int(std::pow(static_cast<double>(a), static_cast<double>(b)));
  return combined(op, a, b);
}

double math(std::string_view op, double a, double b) {
  if (op == "Div") return a / b;
  if (op == "Mod") return std::fmod(a, b);
  if (op == "Pow") return std::pow(a, b);
  return combined(op, a, b);
}

template <class T>
bool holds(std::string_view op, T a, T b) {
  if (op == "Equal") return a == b;
  if (op == "Less") return a < b;
  if (op == "LessOrEqual") return a <= b;
  if (op == "Greater") return a > b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "And") return a != 0 && b != 0;
  if (op == "Or") return a != 0 || b != 0;
  return (a != 0) != (b != 0);  // Xor
}

Value binary(const FoldInput& fold, const Value& a, const Value& b, bool compares) {
  const std::string& op = fold.node.op_type();
  // Only the inputs of Pow may differ in type.
  need(compares ? a.floating() == b.floating() : a.type == b.type || op == "Pow");
  const bool like_c = integer(fold.node, "fmod", 0) != 0;
  const Broadcast both({a.shape, b.shape});
  Value out{compares ? DataType::Bool : a.type, both.shape, {}, {}};
  for (std::size_t i = 0; i < both.size(); ++i) {
    const std::size_t x = both.at[0][i], y = both.at[1][i];
    if (compares)
      out.ints.push_back(a.floating() ? holds(op, a.reals[x], b.reals[y])
                                      : holds(op, a.ints[x], b.ints[y]));
    else if (a.floating())
      out.reals.push_back(rounded(math(op, a.reals[x], b.real(y)), a.type));
    else if (b.floating())
      out.ints.push_back(to_int(math(op, a.real(x), b.reals[y])));
    else
      out.ints.push_back(math(op, a.ints[x], b.ints[y], like_c));
  }
  return out;
}

Value arithmetic(const FoldInput& fold) {
  Value result = fold.at(0);
  for (std::size_t i = 1; i < fold.in.size(); ++i) result = binary(fold, result, fold.at(i), false);
  return result;
}

Value comparison(const FoldInput& fold) { return binary(fold, fold.at(0), fold.at(1), true); }

double unary_real(std::string_view op, double x) {
  static const std::map<std::string_view, double (*)(double)> functions = {
      {"Abs", std::fabs},
      {"Floor", std::floor},
      {"Ceil", std::ceil},
      {"Round", std::nearbyint},
      {"Sqrt", std::sqrt},
      {"Exp", std::exp},
      {"Log", std::log},
      {"Sin", std::sin},
      {"Cos", std::cos},
      {"Neg", [](double x) { return -x; }},
      {"Reciprocal", [](double x) { return 1 / x; }}};
  const auto function = functions.find(op);
  need(function != functions.end());
  return function->second(x);
}

Int unary_int(std::string_view op, Int x) {
  if (op == "Not") return x == 0;
  if (op == "Neg" || (op == "Abs" && x < 0)) return combined<Int>("Sub", 0, x);
  need(op == "Abs" || op == "Floor" || op == "Ceil" || op == "Round");
  return x;
}

Value unary(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const std::string& op = fold.node.op_type();
  Value out{in.type, in.shape, {}, {}};
  for (const double x : in.reals) out.reals.push_back(rounded(unary_real(op, x), in.type));
  for (const Int x : in.ints) out.ints.push_back(unary_int(op, x));
  return out;
}

Value cast(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const DataType type = needed(data_type_of(static_cast<int>(integer(fold.node, "to", 0))));
  Value out{type, in.shape, {}, {}};
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (out.floating())
      out.reals.push_back(rounded(in.real(i), type));
    else if (type == DataType::Bool)
      out.ints.push_back(in.real(i) != 0);
    else
      out.ints.push_back(in.floating() ? to_int(in.reals[i]) : in.ints[i]);
  }
  return out;
}

Value where(const FoldInput& fold) {
  const Value &condition = fold.at(0), &a = fold.at(1), &b = fold.at(2);
  need(!condition.floating() && a.type == b.type);
  const Broadcast all({condition.shape, a.shape, b.shape});
  Value out{a.type, all.shape, {}, {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool first = condition.ints[all.at[0][i]] != 0;
    out.push(first ? a : b, all.at[first ? 1 : 2][i]);
  }
  return out;
}

Value clip(const FoldInput& fold) {
  Value out = fold.at(0);
  need(!out.floating());
  const Value *low = fold.find(1), *high = fold.find(2);
  for (Int& element : out.ints) {
    if (low && low->ints.size() == 1) element = std::max(element, low->ints[0]);
    if (high && high->ints.size() == 1) element = std::min(element, high->ints[0]);
  }
  return out;
}

// ---- sums and other reductions along axes

// Axes that are out of range do not count.
std::vector<bool> reduced_axes(const FoldInput& fold, std::size_t rank) {
  const std::vector<Int> axes = fold.list("axes", 1).value_or(std::vector<Int>());
  const bool none = axes.empty() && integer(fold.node, "noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(rank, axes.empty() && !none);
  for (const Int axis : axes) {
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + static_cast<Int>(rank) : axis);
    if (at < rank) reduced[at] = true;
  }
  return reduced;
}

Value reduction(const FoldInput& fold) {
  const Value& in = fold.at(0);
  need(in.size() > 0);
  const std::vector<bool> reduced = reduced_axes(fold, in.shape.size());
  const bool keep = integer(fold.node, "keepdims", 1) != 0;
  Shape kept = in.shape, shape;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (reduced[i]) kept[i] = 1;
    if (keep || !reduced[i]) shape.push_back(kept[i]);
  }
  const std::vector<std::size_t> target = broadcast_source(kept, in.shape);
  Value out{in.type, std::move(shape), {}, {}};
  with_elements(in, out, [&](const auto& from, auto& to) {
    to.resize(foldable_count(kept));
    std::vector<bool> started(to.size(), false);
    for (std::size_t i = 0; i < from.size(); ++i) {
      auto& sum = to[target[i]];
      sum = started[target[i]] ? combined(fold.node.op_type(), sum, from[i]) : from[i];
      started[target[i]] = true;
    }
  });
  return out;
}

Value cumulative_sum(const FoldInput& fold) {
  const Value& in = fold.at(0);
  const std::vector<Int>& along = fold.at(1).ints;
  need(along.size() == 1 && integer(fold.node, "exclusive", 0) == 0 &&
       integer(fold.node, "reverse", 0) == 0);
  const std::size_t axis = axis_in(along[0], in.shape.size());
  const auto stride = static_cast<std::size_t>(strides_of(in.shape)[axis]);
  const auto extent = static_cast<std::size_t>(in.shape[axis]);
  Value out = in;
  with_elements(in, out, [&](const auto&, auto& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (i / stride % extent != 0) sums[i] = combined("Add", sums[i], sums[i - stride]);
  });
  return out;
}

const FoldRules& computing_rules() {
  static const FoldRules rules = {
      {arithmetic, {"Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max", "Sum"}},
      {comparison,
       {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor"}},
      {unary,
       {"Neg", "Abs", "Floor", "Ceil", "Round", "Sqrt", "Exp", "Log", "Sin", "Cos", "Reciprocal",
        "Not"}},
      {cast, {"Cast"}},
      {where, {"Where"}},
      {clip, {"Clip"}},
      {reduction, {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}},
      {cumulative_sum, {"CumSum"}}};
  return rules;
}

}  // namespace

std::vector<Value> fold(const onnx::NodeProto& node, const std::vector<const Value*>& inputs) {
  const FoldInput input{node, inputs};
  try {
    if (node.op_type() == "Split") return split(input);
    for (const FoldRules* rules : {&computing_rules(), &moving_rules()})
      for (const auto& [rule, types] : *rules)
        if (std::ranges::count(types, node.op_type()) > 0 && node.output_size() <= 1)
          return {rule(input)};
  } catch (const NotFolded&) {
  }
  return {};
}

const Value& FoldInput::at(std::size_t i) const {
  need(find(i) != nullptr);
  return *in[i];
}

std::optional<std::vector<Int>> FoldInput::list(std::string_view attribute, std::size_t i) const {
  if (const Value* value = find(i); value != nullptr && !value->floating()) return value->ints;
  return integer_list(node, attribute);
}

std::size_t FoldInput::axis(std::size_t rank) const {
  return axis_in(integer(node, "axis", 0), rank);
}

std::size_t foldable_count(const Shape& shape) {
  const Int count = needed(element_count(shape));
  need(count <= kMaxFoldedElements);
  return static_cast<std::size_t>(count);
}

Int place_in(Int place, Int extent) {
  need(place >= -extent && place < extent);
  return place < 0 ? place + extent : place;
}

std::size_t axis_in(Int axis, std::size_t rank) {
  return static_cast<std::size_t>(place_in(axis, static_cast<Int>(rank)));
}

std::vector<Int> strides_of(const Shape& shape) {
  std::vector<Int> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::vector<std::size_t> places(const Shape& shape, const std::vector<Int>& steps) {
  std::vector<std::size_t> result(foldable_count(shape));
  const std::vector<Int> strides = strides_of(shape);
  for (std::size_t i = 0; i < result.size(); ++i) {
    Int at = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      at += static_cast<Int>(i) / strides[axis] % shape[axis] * steps[axis];
    result[i] = static_cast<std::size_t>(at);
  }
  return result;
}

std::vector<std::size_t> broadcast_source(const Shape& from, const Shape& shape) {
  const std::size_t missing = shape.size() - from.size();
  std::vector<Int> steps = strides_of(from);
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    need(from[axis] == 1 || from[axis] == shape[missing + axis]);
    if (from[axis] == 1) steps[axis] = 0;
  }
  steps.insert(steps.begin(), missing, 0);
  return places(shape, steps);
}

Broadcast::Broadcast(std::initializer_list<Shape> shapes) {
  for (const Shape& each : shapes) shape = broadcast_shape(shape, each);
  for (const Shape& each : shapes) at.push_back(broadcast_source(each, shape));
}

Value gathered(const Value& from, Shape shape, const std::vector<std::size_t>& source) {
  Value result{from.type, std::move(shape), {}, {}};
  for (const std::size_t i : source) result.push(from, i);
  return result;
}

}  // namespace strato::onnx_import
