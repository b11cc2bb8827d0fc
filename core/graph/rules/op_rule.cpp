#include "core/graph/rules/op_rule.h"

#include <fmt/format.h>

#include <algorithm>

namespace strato {

BatchFlow::BatchFlow(OpReader reader, std::int64_t batch_size) : op(reader), batch(batch_size) {
  for (std::size_t i = op.input_count(); i-- > 0;)
    if (axis(i) >= 0) blocks_ = op.input(i).batch.blocks;
}

int BatchFlow::axis(std::size_t i) const {
  const BatchLayout& layout = op.input(i).batch;
  return op.has_input(i) && layout.kind == BatchKind::Batched ? layout.axis : -1;
}

bool BatchFlow::requires_batch(std::size_t i, int wanted) {
  const Shape& shape = op.in(i);
  if (wanted >= static_cast<int>(shape.size()) || extent(shape, wanted) == 1)
    return axis(i) < 0 || axis(i) == wanted;
  if (axis(i) >= 0) return op.input(i).batch == on(wanted);
  if (extent(shape, wanted) % (blocks_ * batch) == 0)
    demands.push_back({op->inputs[i], on(wanted)});
  return false;
}

BatchRule batch_kept(MixesAxis mixes) {
  return [mixes = std::move(mixes)](BatchFlow& flow) -> BatchAnswer {
    const OpReader& op = flow.op;
    const int axis = flow.axis(0);
    if (axis < 0 || (mixes && mixes(op, axis))) return std::nullopt;
    for (std::size_t i = 1; i < op.input_count(); ++i)
      if (flow.axis(i) >= 0) return std::nullopt;
    return flow.on_if(!op.has_output(0) || extent(op.out(), axis) == extent(op.in(0), axis), axis);
  };
}

bool mixes_all_but_first(const OpReader&, int axis) { return axis != 0; }

bool mixes_last_two(const OpReader& op, int axis) {
  return axis + 2 >= static_cast<int>(op.in(0).size());
}

MixesAxis mixes_along(std::int64_t fallback) {
  return [=](const OpReader& op, int axis) {
    return axis == op.axis("axis", fallback, op.in(0).size());
  };
}

BatchRule samples_first(InputSet always, InputSet perhaps) {
  return [=](BatchFlow& flow) {
    const OpReader& op = flow.op;
    bool follows = flow.axis(0) == 0;
    for (std::size_t i = 1; i < op.input_count(); ++i) {
      if (!op.has_input(i)) continue;
      if (contains(always, i))
        follows = flow.requires_batch(i, 0) && follows;
      else
        follows = flow.axis(i) < (contains(perhaps, i) ? 1 : 0) && follows;
    }
    for (std::size_t i = 1; follows && i < op.output_count(); ++i)
      if (extent(op.out(i), 0) == extent(op.out(), 0)) flow.set(i, flow.on(0));
    return flow.on_if(follows, 0);
  };
}

BatchRule batch_by(AxesRule axes) {
  return [axes = std::move(axes)](BatchFlow& flow) -> BatchAnswer {
    const auto letters = axes(flow.op);
    if (!letters || letters->outputs[0].find(AxisLetters::kMixed) != std::string::npos)
      return std::nullopt;
    char batch_letter = 0;
    for (std::size_t i = 0; i < letters->inputs.size() && batch_letter == 0; ++i) {
      if (flow.axis(i) < 0) continue;
      const auto at = static_cast<std::size_t>(flow.axis(i));
      if (at >= letters->inputs[i].size()) return std::nullopt;
      batch_letter = letters->inputs[i][at];
    }
    if (batch_letter == AxisLetters::kMixed) return std::nullopt;
    bool follows = batch_letter != 0;
    for (std::size_t i = 0; i < letters->inputs.size(); ++i) {
      const std::size_t at = letters->inputs[i].find(batch_letter);
      const bool has = at != std::string::npos;
      follows = (has ? flow.requires_batch(i, static_cast<int>(at)) : flow.axis(i) < 0) && follows;
    }
    if (!follows) return std::nullopt;
    const std::size_t at = letters->outputs[0].find(batch_letter);
    return at == std::string::npos ? partial() : flow.on(static_cast<int>(at));
  };
}

OpRule lettered(OpRule rule, const AxesRule& axes) {
  rule.shape = [axes](const OpReader& op) { return shape_by(axes(op), op); };
  rule.axes = axes;
  rule.batch = batch_by(axes);
  return rule;
}

OpRule quantized(OpRule rule) {
  rule.axes = nullptr;
  rule.linear = Linearity::None;
  rule.gradient = nullptr;
  return rule;
}

OpRule keeping_axes(OpRule rule, const MixesAxis& mixes) {
  rule.axes = kept_axes(mixes);
  rule.batch = batch_kept(mixes);
  return rule;
}

std::vector<int> reduced_axes(const OpReader& op) {
  const std::size_t rank = op.in(0).size();
  if (op->type.starts_with("Arg")) return {op.axis("axis", 0, rank)};
  const auto given = op.list("axes", 1).value_or(std::vector<std::int64_t>{});
  const bool all = given.empty() && op->integer("noop_with_empty_axes", 0) == 0;
  std::vector<int> axes;
  for (int i = 0; i < static_cast<int>(rank); ++i) {
    const auto names_it = [&](std::int64_t axis) { return wrap_axis(axis, rank) == i; };
    if (all || std::ranges::any_of(given, names_it)) axes.push_back(i);
  }
  return axes;
}

std::vector<std::size_t> GradientWriter::wanted(std::size_t most) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < std::min(most, forward().input_count()); ++i)
    if (wants(i)) result.push_back(i);
  return result;
}

GradientRule gradient(std::vector<Saved> reads) {
  return [reads = std::move(reads)](GradientWriter& writer) {
    writer.add("Grad", "grad", reads, writer.wanted());
  };
}

GradientRule gradients(std::vector<GradientPart> parts) {
  return [parts = std::move(parts)](GradientWriter& writer) {
    for (const GradientPart& part : parts) {
      if (!writer.wants(part.input)) continue;
      if (part.passes && writer.forward().in(part.input) == writer.forward().out())
        writer.pass(part.input);
      else
        writer.add(part.type, part.name, part.reads, {part.input});
    }
  };
}

GradientRule operand_gradients(std::vector<Saved> a, std::vector<Saved> b) {
  return gradients({{"GradA", "grad_a", 0, std::move(a)}, {"GradB", "grad_b", 1, std::move(b)}});
}

void passed_gradient(GradientWriter& writer) {
  for (const std::size_t i : writer.wanted()) {
    if (writer.forward().in(i) == writer.forward().out())
      writer.pass(i);
    else
      writer.add("Grad", fmt::format("grad_{}", static_cast<char>('a' + i % 26)), {}, {i});
  }
}

}  // namespace strato
