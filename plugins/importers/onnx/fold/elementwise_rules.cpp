#include "plugins/importers/onnx/fold/elementwise_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "plugins/importers/onnx/read/element_type.h"
#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

using Int = std::int64_t;
using MaybeInt = std::optional<Int>;

MaybeInt to_int(double value) {
  if (!(std::fabs(value) < 0x1p63)) return std::nullopt;
  return static_cast<Int>(value);
}

MaybeInt divided(Int a, Int b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<Int>::min())) return std::nullopt;
  return a / b;
}

MaybeInt modulo(Int a, Int b, bool like_c) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const Int rest = a % b;
  return !like_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

MaybeInt int_math(std::string_view op, Int a, Int b, bool like_c) {
  if (op == "Add" || op == "Sum") return wrapped(bits(a) + bits(b));
  if (op == "Sub") return wrapped(bits(a) - bits(b));
  if (op == "Mul") return wrapped(bits(a) * bits(b));
  if (op == "Div") return divided(a, b);
  if (op == "Mod") return modulo(a, b, like_c);
  if (op == "Pow") return to_int(std::pow(static_cast<double>(a), static_cast<double>(b)));
  if (op == "Min") return std::min(a, b);
  if (op == "Max") return std::max(a, b);
  return std::nullopt;
}

double real_math(std::string_view op, double a, double b) {
  if (op == "Add" || op == "Sum") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return a / b;
  if (op == "Mod") return std::fmod(a, b);
  if (op == "Pow") return std::pow(a, b);
  if (op == "Min") return std::min(a, b);
  return std::max(a, b);
}

FoldResult binary(const FoldInput& fold, const Value& a, const Value& b) {
  const std::optional<Shape> shape = broadcast(a.shape, b.shape);
  const bool power = fold.node.op_type() == "Pow";  // the only one whose inputs' types may differ
  if (!shape || !foldable_count(*shape) || (!power && a.type != b.type)) return {};
  const std::vector<std::size_t> at_a = broadcast_source(a.shape, *shape);
  const std::vector<std::size_t> at_b = broadcast_source(b.shape, *shape);
  const bool like_c = integer(fold.node, "fmod", 0) != 0;
  Value out{a.type, *shape, {}, {}};
  for (std::size_t i = 0; i < at_a.size(); ++i) {
    if (a.floating() || b.floating()) {
      const double result = real_math(fold.node.op_type(), a.real(at_a[i]), b.real(at_b[i]));
      if (a.floating())
        out.reals.push_back(rounded(result, a.type));
      else if (const MaybeInt whole = to_int(result))
        out.ints.push_back(*whole);
      else
        return {};
    } else {
      const MaybeInt result =
          int_math(fold.node.op_type(), a.ints[at_a[i]], b.ints[at_b[i]], like_c);
      if (!result) return {};
      out.ints.push_back(*result);
    }
  }
  return {std::move(out)};
}

FoldResult arithmetic(const FoldInput& fold) {
  if (fold.in.empty() || fold.in[0] == nullptr) return {};
  FoldResult result{*fold.in[0]};
  for (std::size_t i = 1; i < fold.in.size(); ++i) {
    if (fold.in[i] == nullptr) return {};
    result = binary(fold, result[0], *fold.in[i]);
    if (result.empty()) return {};
  }
  return result;
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

FoldResult comparison(const FoldInput& fold) {
  const Value* a = fold.input(0);
  const Value* b = fold.input(1);
  if (a == nullptr || b == nullptr || a->floating() != b->floating()) return {};
  const std::optional<Shape> shape = broadcast(a->shape, b->shape);
  if (!shape || !foldable_count(*shape)) return {};
  const std::vector<std::size_t> at_a = broadcast_source(a->shape, *shape);
  const std::vector<std::size_t> at_b = broadcast_source(b->shape, *shape);
  Value out{DataType::Bool, *shape, {}, {}};
  for (std::size_t i = 0; i < at_a.size(); ++i) {
    out.ints.push_back(a->floating()
                           ? holds(fold.node.op_type(), a->reals[at_a[i]], b->reals[at_b[i]])
                           : holds(fold.node.op_type(), a->ints[at_a[i]], b->ints[at_b[i]]));
  }
  return {std::move(out)};
}

std::optional<double> unary_real(std::string_view op, double x) {
  if (op == "Neg") return -x;
  if (op == "Abs") return std::fabs(x);
  if (op == "Floor") return std::floor(x);
  if (op == "Ceil") return std::ceil(x);
  if (op == "Round") return std::nearbyint(x);
  if (op == "Sqrt") return std::sqrt(x);
  if (op == "Exp") return std::exp(x);
  if (op == "Log") return std::log(x);
  if (op == "Sin") return std::sin(x);
  if (op == "Cos") return std::cos(x);
  if (op == "Reciprocal") return 1 / x;
  return std::nullopt;
}

FoldResult unary(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr) return {};
  const std::string& op = fold.node.op_type();
  Value out{in->type, in->shape, {}, {}};
  for (const double element : in->reals) {
    const std::optional<double> result = unary_real(op, element);
    if (!result) return {};
    out.reals.push_back(rounded(*result, in->type));
  }
  for (const Int element : in->ints) {
    if (op == "Not")
      out.ints.push_back(element == 0);
    else if (op == "Neg" || (op == "Abs" && element < 0))
      out.ints.push_back(wrapped(0 - bits(element)));
    else if (op == "Abs" || op == "Floor" || op == "Ceil" || op == "Round")
      out.ints.push_back(element);
    else
      return {};
  }
  return {std::move(out)};
}

FoldResult cast(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const std::optional<DataType> type = data_type_of(static_cast<int>(integer(fold.node, "to", 0)));
  if (in == nullptr || !type) return {};
  Value out{*type, in->shape, {}, {}};
  for (std::size_t i = 0; i < in->size(); ++i) {
    if (out.floating()) {
      out.reals.push_back(rounded(in->real(i), *type));
    } else if (*type == DataType::Bool) {
      out.ints.push_back(in->real(i) != 0);
    } else {
      const MaybeInt whole = in->floating() ? to_int(in->reals[i]) : in->ints[i];
      if (!whole) return {};
      out.ints.push_back(*whole);
    }
  }
  return {std::move(out)};
}

FoldResult where(const FoldInput& fold) {
  const Value* condition = fold.input(0);
  const Value* a = fold.input(1);
  const Value* b = fold.input(2);
  if (!condition || !a || !b || condition->floating() || a->type != b->type) return {};
  const std::optional<Shape> branches = broadcast(a->shape, b->shape);
  if (!branches) return {};
  const std::optional<Shape> shape = broadcast(*branches, condition->shape);
  if (!shape || !foldable_count(*shape)) return {};
  const std::vector<std::size_t> at = broadcast_source(condition->shape, *shape);
  const std::vector<std::size_t> at_a = broadcast_source(a->shape, *shape);
  const std::vector<std::size_t> at_b = broadcast_source(b->shape, *shape);
  Value out{a->type, *shape, {}, {}};
  for (std::size_t i = 0; i < at.size(); ++i) {
    const bool first = condition->ints[at[i]] != 0;
    if (a->floating())
      out.reals.push_back(first ? a->reals[at_a[i]] : b->reals[at_b[i]]);
    else
      out.ints.push_back(first ? a->ints[at_a[i]] : b->ints[at_b[i]]);
  }
  return {std::move(out)};
}

FoldResult clip(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr || in->floating()) return {};
  Value out = *in;
  for (Int& element : out.ints) {
    if (const Value* low = fold.input(1); low && low->ints.size() == 1)
      element = std::max(element, low->ints[0]);
    if (const Value* high = fold.input(2); high && high->ints.size() == 1)
      element = std::min(element, high->ints[0]);
  }
  return {std::move(out)};
}

}  // namespace

const FoldRules& elementwise_rules() {
  static const FoldRules rules = [] {
    FoldRules table;
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Pow", "Min", "Max", "Sum"}) {
      table[op] = arithmetic;
    }
    for (const char* op :
         {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor"}) {
      table[op] = comparison;
    }
    for (const char* op : {"Neg", "Abs", "Floor", "Ceil", "Round", "Sqrt", "Exp", "Log", "Sin",
                           "Cos", "Reciprocal", "Not"}) {
      table[op] = unary;
    }
    table["Cast"] = cast;
    table["Where"] = where;
    table["Clip"] = clip;
    return table;
  }();
  return rules;
}

}  // namespace strato::onnx_import
