#include "plugins/importers/exported_program/translate/rules_elementwise.h"

#include <algorithm>
#include <array>

namespace strato::exported_program_import {
namespace {

// The catalogue's name for an op of one tensor that needs nothing else.
const std::map<std::string_view, const char*> kUnary = {{"aten.abs", "Abs"},
                                                        {"aten.acos", "Acos"},
                                                        {"aten.acosh", "Acosh"},
                                                        {"aten.asin", "Asin"},
                                                        {"aten.asinh", "Asinh"},
                                                        {"aten.atan", "Atan"},
                                                        {"aten.atanh", "Atanh"},
                                                        {"aten.bitwise_not", "Not"},
                                                        {"aten.ceil", "Ceil"},
                                                        {"aten.cos", "Cos"},
                                                        {"aten.cosh", "Cosh"},
                                                        {"aten.erf", "Erf"},
                                                        {"aten.exp", "Exp"},
                                                        {"aten.floor", "Floor"},
                                                        {"aten.hardsigmoid", "HardSigmoid"},
                                                        {"aten.hardswish", "HardSwish"},
                                                        {"aten.isinf", "IsInf"},
                                                        {"aten.isnan", "IsNaN"},
                                                        {"aten.log", "Log"},
                                                        {"aten.logical_not", "Not"},
                                                        {"aten.mish", "Mish"},
                                                        {"aten.neg", "Neg"},
                                                        {"aten.reciprocal", "Reciprocal"},
                                                        {"aten.relu", "Relu"},
                                                        {"aten.round", "Round"},
                                                        {"aten.selu", "Selu"},
                                                        {"aten.sigmoid", "Sigmoid"},
                                                        {"aten.sign", "Sign"},
                                                        {"aten.silu", "Silu"},
                                                        {"aten.sin", "Sin"},
                                                        {"aten.sinh", "Sinh"},
                                                        {"aten.softplus", "Softplus"},
                                                        {"aten.sqrt", "Sqrt"},
                                                        {"aten.tan", "Tan"},
                                                        {"aten.tanh", "Tanh"}};
const std::map<std::string_view, const char*> kBinary = {
    {"aten.bitwise_and", "And"}, {"aten.bitwise_or", "Or"},   {"aten.bitwise_xor", "Xor"},
    {"aten.eq", "Equal"},        {"aten.fmod", "Mod"},        {"aten.ge", "GreaterOrEqual"},
    {"aten.gt", "Greater"},      {"aten.le", "LessOrEqual"},  {"aten.logical_and", "And"},
    {"aten.logical_or", "Or"},   {"aten.logical_xor", "Xor"}, {"aten.lt", "Less"},
    {"aten.maximum", "Max"},     {"aten.minimum", "Min"},     {"aten.mul", "Mul"},
    {"aten.remainder", "Mod"}};

void unary(Lowering& to) {
  const TensorId x = to.required("self");
  // Numbers' bits have an op of their own.
  const bool bits = to.call.op() == "aten.bitwise_not" && to.tensor(x).type != DataType::Bool;
  to.emit(bits ? "BitwiseNot" : kUnary.at(to.call.op()), {x});
}

struct Operands {
  TensorId a, b;
};

// Either may be a number.
Operands operands(Lowering& to, std::string_view first = "self",
                  std::string_view second = "other") {
  const TensorId a = to.in(first), b = to.in(second);
  if (!a.valid() && !b.valid())
    to.call.refuse("has no tensor among its operands", "export the program again");
  return {a.valid() ? a : to.operand(first, b), b.valid() ? b : to.operand(second, a)};
}

void binary(Lowering& to) {
  const Operands x = operands(to);
  std::string type = kBinary.at(to.call.op());
  const bool bits =
      to.call.op().starts_with("aten.bitwise_") && to.tensor(x.a).type != DataType::Bool;
  to.emit(bits ? "Bitwise" + type : type, {x.a, x.b});
}

void not_equal(Lowering& to) {
  const Operands x = operands(to);
  const TensorId equal = to.step("Equal", {x.a, x.b}, to.result().shape);
  to.emit("Not", {equal});
}

// a + alpha * b, a - alpha * b, b - alpha * a
void sum(Lowering& to) {
  Operands x = operands(to);
  if (to.call.op() == "aten.rsub") std::swap(x.a, x.b);
  const double alpha = to.call.real("alpha", 1);
  if (alpha != 1) x.b = to.step("Mul", {x.b, to.number(alpha, to.tensor(x.b).type)}, to.shape(x.b));
  to.emit(to.call.op() == "aten.add" ? "Add" : "Sub", {x.a, x.b});
}

void quotient(Lowering& to) {
  const Operands x = operands(to);
  const std::string rounding =
      to.call.op() == "aten.floor_divide" ? "floor" : to.call.text("rounding_mode", "");
  if (rounding.empty()) return to.emit("Div", {x.a, x.b});
  const TensorId whole = to.step("Div", {x.a, x.b}, to.result().shape);
  to.emit("Floor", {whole});
}

void power(Lowering& to) {
  const bool exponent_is_two = to.call.is_number("exponent") && to.call.real("exponent", 0) == 2;
  const TensorId x = to.in("self");
  if (exponent_is_two && x.valid()) return to.emit("Mul", {x, x});
  const Operands both = operands(to, "self", "exponent");
  to.emit("Pow", {both.a, both.b});
}

void square(Lowering& to) {
  const TensorId x = to.required("self");
  to.emit("Mul", {x, x});
}

void reciprocal_root(Lowering& to) {
  const TensorId x = to.required("self");
  to.emit("Reciprocal", {to.step("Sqrt", {x}, to.shape(x))});
}

void gelu(Lowering& to) {
  Attributes attributes;
  if (to.call.text("approximate", "none") == "tanh")
    attributes.emplace_back("approximate", std::string("tanh"));
  to.emit("Gelu", {to.required("self")}, std::move(attributes));
}

void leaky_relu(Lowering& to) {
  to.emit("LeakyRelu", {to.required("self")}, {{"alpha", to.call.real("negative_slope", 0.01)}});
}

void elu(Lowering& to) {
  to.emit("Elu", {to.required("self")}, {{"alpha", to.call.real("alpha", 1)}});
}

void prelu(Lowering& to) { to.emit("PRelu", {to.required("self"), to.required("weight")}); }

// Bounds may be numbers, tensors, or left out.
void clip(Lowering& to) {
  const TensorId x = to.required("self");
  Ids inputs = {x};
  for (const auto& [first, second] : {std::pair{"min", "min_val"}, std::pair{"max", "max_val"}}) {
    const char* name = to.call.has(first) ? first : second;
    inputs.push_back(to.call.has(name) ? to.operand(name, x) : TensorId());
  }
  while (!inputs.back().valid()) inputs.pop_back();
  to.emit("Clip", std::move(inputs));
}

void choose(Lowering& to) {
  const Operands x = operands(to);
  to.emit("Where", {to.required("condition"), x.a, x.b});
}

void fill_where(Lowering& to) {
  const TensorId x = to.required("self");
  to.emit("Where", {to.required("mask"), to.operand("value", x), x});
}

// Also conversions that leave the type as it is.
void convert(Lowering& to) {
  const TensorId x = to.in("self").valid() ? to.in("self") : to.required("a");
  const DataType type = to.result().type;
  if (type == to.tensor(x).type) return to.alias(x);
  to.emit("Cast", {x}, {{"to", std::int64_t{onnx_number(type)}}});
}

void same(Lowering& to) { to.alias(to.in("self").valid() ? to.in("self") : to.required("input")); }

// "input" and "train" in one spelling of it, "self" and "training" in none.
void dropout(Lowering& to) {
  const TensorId x = to.in("input").valid() ? to.in("input") : to.required("self");
  if (!to.call.flag("train", true) || to.call.real("p", 0) <= 0) return to.alias(x);
  to.emit("Dropout", {x}, {{"ratio", to.call.real("p", 0.5)}}, to.results());
}

}  // namespace

Rules elementwise_rules() {
  Rules rules = {{"aten.add", sum},
                 {"aten.sub", sum},
                 {"aten.rsub", sum},
                 {"aten.ne", not_equal},
                 {"aten.div", quotient},
                 {"aten.true_divide", quotient},
                 {"aten.floor_divide", quotient},
                 {"aten.pow", power},
                 {"aten.square", square},
                 {"aten.rsqrt", reciprocal_root},
                 {"aten.gelu", gelu},
                 {"aten.leaky_relu", leaky_relu},
                 {"aten.elu", elu},
                 {"aten.prelu", prelu},
                 {"aten._prelu_kernel", prelu},
                 {"aten.clamp", clip},
                 {"aten.clamp_min", clip},
                 {"aten.clamp_max", clip},
                 {"aten.hardtanh", clip},
                 {"aten.where", choose},
                 {"aten.masked_fill", fill_where},
                 {"aten.dropout", dropout},
                 {"aten.native_dropout", dropout},
                 {"aten.feature_dropout", dropout}};
  for (const char* op : {"aten.to", "aten._to_copy", "aten.type_as", "prims.convert_element_type"})
    rules[op] = convert;
  for (const char* op :
       {"aten.alias", "aten.clone", "aten.contiguous", "aten.detach", "aten.lift_fresh_copy",
        "aten.lift_fresh", "aten.positive", "aten.resolve_conj", "aten.resolve_neg"})
    rules[op] = same;
  for (const auto& [op, type] : kUnary) rules[op] = unary;
  for (const auto& [op, type] : kBinary) rules[op] = binary;
  return rules;
}

}  // namespace strato::exported_program_import
