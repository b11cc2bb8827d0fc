#include "plugins/importers/exported_program/translate/rules_reductions.h"

#include <string>

namespace strato::exported_program_import {
namespace {

// The axes in "dim"; none are all of them.
Ints reduced_axes(const Lowering& to, TensorId x) {
  Ints axes = to.call.integers("dim").value_or(Ints{});
  for (std::int64_t& axis : axes) axis = to.axis(axis, to.rank(x));
  for (std::size_t i = 0; axes.size() <= i && !to.call.has("dim") && i < to.rank(x); ++i)
    axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

const std::map<std::string_view, const char*> kReductions = {
    {"aten.amax", "ReduceMax"},  {"aten.amin", "ReduceMin"},  {"aten.logsumexp", "ReduceLogSumExp"},
    {"aten.mean", "ReduceMean"}, {"aten.prod", "ReduceProd"}, {"aten.sum", "ReduceSum"}};

void reduce(Lowering& to) {
  const TensorId x = to.required("self");
  const Ints axes = reduced_axes(to, x);
  Ids inputs = {x};
  if (!axes.empty()) inputs.push_back(to.integers(axes));
  to.emit(kReductions.at(to.call.op()), std::move(inputs),
          {{"keepdims", std::int64_t{to.call.flag("keepdim", false) ? 1 : 0}}});
}

// Of all elements, or along an axis with their places; or of two tensors.
void extreme(Lowering& to) {
  const TensorId x = to.required("self"), other = to.in("other");
  const bool largest = to.call.op() == "aten.max";
  if (other.valid()) return to.emit(largest ? "Max" : "Min", {x, other});
  const Ints axes = reduced_axes(to, x);
  Ids inputs = {x};
  if (!axes.empty()) inputs.push_back(to.integers(axes));
  const std::int64_t keep = to.call.flag("keepdim", false) ? 1 : 0;
  to.emit_one(0, largest ? "ReduceMax" : "ReduceMin", std::move(inputs), {{"keepdims", keep}});
  if (to.results() > 1)
    to.emit_one(1, largest ? "ArgMax" : "ArgMin", {x},
                {{"axis", axes.empty() ? 0 : axes[0]}, {"keepdims", keep}});
}

void place(Lowering& to) {
  TensorId x = to.required("self");
  if (!to.call.has("dim")) {
    const auto elements = to.tensor(x).elements();
    x = to.step("Reshape", {x, to.integers({elements})}, {elements});
  }
  to.emit(to.call.op() == "aten.argmax" ? "ArgMax" : "ArgMin", {x},
          {{"axis", to.axis(to.call.integer("dim", 0), to.rank(x))},
           {"keepdims", std::int64_t{to.call.flag("keepdim", false) ? 1 : 0}}});
}

void running_sum(Lowering& to) {
  const TensorId x = to.required("self");
  const auto axis = static_cast<double>(to.axis(to.call.integer("dim", 0), to.rank(x)));
  to.emit("CumSum", {x, to.number(axis, DataType::I64)});
}

void largest(Lowering& to) {
  const TensorId x = to.required("self");
  to.emit("TopK", {x, to.integers({to.call.integer("k", 1)})},
          {{"axis", to.axis(to.call.integer("dim", -1), to.rank(x))}}, to.results());
}

}  // namespace

Rules reduction_rules() {
  Rules rules = {{"aten.max", extreme},  {"aten.min", extreme},        {"aten.argmax", place},
                 {"aten.argmin", place}, {"aten.cumsum", running_sum}, {"aten.topk", largest}};
  for (const auto& [op, type] : kReductions) rules[op] = reduce;
  return rules;
}

}  // namespace strato::exported_program_import
