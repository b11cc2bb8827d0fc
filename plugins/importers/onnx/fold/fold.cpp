#include "plugins/importers/onnx/fold/fold.h"

#include <cmath>
#include <limits>

#include "plugins/importers/onnx/fold/rules.h"
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

Value binary(const FoldInput& fold, const Value& a, const Value& b) {
  const std::string& op = fold.node.op_type();
  need(a.type == b.type || op == "Pow");  // the only one whose inputs' types may differ
  const bool like_c = integer(fold.node, "fmod", 0) != 0;
  const Broadcast both({a.shape, b.shape});
  Value out{a.type, both.shape, {}, {}};
  for (std::size_t i = 0; i < both.size(); ++i) {
    const std::size_t x = both.at[0][i], y = both.at[1][i];
    if (a.floating())
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
  for (std::size_t i = 1; i < fold.in.size(); ++i) result = binary(fold, result, fold.at(i));
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

Value comparison(const FoldInput& fold) {
  const Value &a = fold.at(0), &b = fold.at(1);
  need(a.floating() == b.floating());
  const Broadcast both({a.shape, b.shape});
  Value out{DataType::Bool, both.shape, {}, {}};
  for (std::size_t i = 0; i < both.size(); ++i) {
    const std::size_t x = both.at[0][i], y = both.at[1][i];
    out.ints.push_back(a.floating() ? holds(fold.node.op_type(), a.reals[x], b.reals[y])
                                    : holds(fold.node.op_type(), a.ints[x], b.ints[y]));
  }
  return out;
}

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

const FoldRules& elementwise_rules() {
  static const FoldRules rules = {
      {"Add", arithmetic},     {"Sub", arithmetic},  {"Mul", arithmetic},
      {"Div", arithmetic},     {"Mod", arithmetic},  {"Pow", arithmetic},
      {"Min", arithmetic},     {"Max", arithmetic},  {"Sum", arithmetic},
      {"Equal", comparison},   {"Less", comparison}, {"LessOrEqual", comparison},
      {"Greater", comparison}, {"And", comparison},  {"GreaterOrEqual", comparison},
      {"Or", comparison},      {"Xor", comparison},  {"Neg", unary},
      {"Abs", unary},          {"Floor", unary},     {"Ceil", unary},
      {"Round", unary},        {"Sqrt", unary},      {"Exp", unary},
      {"Log", unary},          {"Sin", unary},       {"Cos", unary},
      {"Reciprocal", unary},   {"Not", unary},       {"Cast", cast},
      {"Where", where},        {"Clip", clip},
  };
  return rules;
}

}  // namespace

std::vector<Value> fold(const onnx::NodeProto& node, const std::vector<const Value*>& inputs) {
  const FoldInput input{node, inputs};
  try {
    if (node.op_type() == "Split") return split(input);
    for (const FoldRules* rules : {&elementwise_rules(), &shape_rules(), &picking_rules()}) {
      const auto rule = rules->find(node.op_type());
      if (rule != rules->end() && node.output_size() <= 1) return {rule->second(input)};
    }
  } catch (const NotFolded&) {
  }
  return {};
}

}  // namespace strato::onnx_import
