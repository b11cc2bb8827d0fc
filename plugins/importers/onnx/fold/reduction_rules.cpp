#include "plugins/importers/onnx/fold/reduction_rules.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

using Int = std::int64_t;

template <class T>
T combined(std::string_view op, T a, T b) {
  if (op == "ReduceProd") return a * b;
  if (op == "ReduceMax") return std::max(a, b);
  if (op == "ReduceMin") return std::min(a, b);
  return a + b;
}

std::vector<bool> reduced_axes(const FoldInput& fold, std::size_t rank) {
  const std::vector<Int> axes = fold.list("axes", 1).value_or(std::vector<Int>());
  const bool none = axes.empty() && integer(fold.node, "noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(rank, axes.empty() && !none);
  for (const Int axis : axes) {
    if (const std::optional<int> at = axis_in(axis, rank))
      reduced[static_cast<std::size_t>(*at)] = true;
  }
  return reduced;
}

FoldResult reduction(const FoldInput& fold) {
  const Value* in = fold.input(0);
  if (in == nullptr || in->size() == 0) return {};
  const std::vector<bool> reduced = reduced_axes(fold, in->shape.size());
  Shape kept = in->shape;
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = reduced[i] ? 1 : kept[i];
  const std::vector<std::size_t> target = broadcast_source(kept, in->shape);
  const std::size_t count = foldable_count(kept).value_or(0);
  std::vector<bool> started(count, false);
  Value out{in->type, {}, {}, {}};
  if (in->floating())
    out.reals.resize(count);
  else
    out.ints.resize(count);
  const std::string& op = fold.node.op_type();
  for (std::size_t i = 0; i < target.size(); ++i) {
    const std::size_t to = target[i];
    if (in->floating()) {
      out.reals[to] = started[to] ? combined(op, out.reals[to], in->reals[i]) : in->reals[i];
    } else {
      const auto sum = combined<std::uint64_t>(op, bits(out.ints[to]), bits(in->ints[i]));
      const bool order = op == "ReduceMax" || op == "ReduceMin";  // signed, and never overflows
      const Int next = order ? combined(op, out.ints[to], in->ints[i]) : wrapped(sum);
      out.ints[to] = started[to] ? next : in->ints[i];
    }
    started[to] = true;
  }
  const bool keep = integer(fold.node, "keepdims", 1) != 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (keep || !reduced[i]) out.shape.push_back(kept[i]);
  }
  return {std::move(out)};
}

FoldResult cumulative_sum(const FoldInput& fold) {
  const Value* in = fold.input(0);
  const Value* along = fold.input(1);
  const bool plain =
      integer(fold.node, "exclusive", 0) == 0 && integer(fold.node, "reverse", 0) == 0;
  if (!in || !along || along->ints.size() != 1 || !plain) return {};
  const std::optional<int> axis = axis_in(along->ints[0], in->shape.size());
  if (!axis) return {};
  const std::int64_t stride = strides_of(in->shape)[static_cast<std::size_t>(*axis)];
  const std::int64_t extent = in->shape[static_cast<std::size_t>(*axis)];
  Value out = *in;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(in->size()); ++i) {
    if (i / stride % extent == 0) continue;
    const auto to = static_cast<std::size_t>(i), from = static_cast<std::size_t>(i - stride);
    if (in->floating())
      out.reals[to] += out.reals[from];
    else
      out.ints[to] = wrapped(bits(out.ints[to]) + bits(out.ints[from]));
  }
  return {std::move(out)};
}

}  // namespace

const FoldRules& reduction_rules() {
  static const FoldRules rules = {
      {"ReduceProd", reduction}, {"ReduceSum", reduction},   {"ReduceMax", reduction},
      {"ReduceMin", reduction},  {"CumSum", cumulative_sum},
  };
  return rules;
}

}  // namespace strato::onnx_import
