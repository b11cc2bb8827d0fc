#include "core/graph/ops/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/graph/ops/class_block_rules.h"
#include "core/graph/ops/elementwise_rules.h"
#include "core/graph/ops/expert_rules.h"
#include "core/graph/ops/layer_rules.h"
#include "core/graph/ops/layout_rules.h"
#include "core/graph/ops/product_rules.h"

namespace strato {
namespace {

using Ops = IdVector<OpId, Op>;
using Tensors = IdVector<TensorId, Tensor>;

std::map<std::string_view, OpRule> all_rules() {
  std::map<std::string_view, OpRule> rules;
  for (const auto family : {attention_rules, class_block_rules, elementwise_rules, expert_rules,
                            layer_rules, layout_rules, product_rules, sampling_rules}) {
    for (const auto& [types, rule] : family())
      for (const std::string_view type : types) rules.emplace(type, rule);
  }
  return rules;
}

// The generic rule: elementwise work, everything read again for the gradient.
const OpRule& unknown_rule() {
  static const OpRule rule = {.min_inputs = 0,
                              .flops = per_element(1),
                              .batch = batch_kept(),
                              .gradient =
                                  [](GradientWriter& writer) {
                                    std::vector<Saved> reads;
                                    const std::size_t count = writer.forward().input_count();
                                    for (std::size_t i = 0; i < count; ++i) reads.push_back(x(i));
                                    gradient(reads)(writer);
                                  },
                              .differentiable = all_inputs};
  return rule;
}

// "ConvGradWeight" -> "Conv"
std::string_view forward_type(std::string_view type) { return type.substr(0, type.rfind("Grad")); }

// Each input's bytes once, and the outputs'.
void count_bytes(Work& work, const OpReader& op, const OpRule& rule) {
  const auto add = [&work](const Tensor& tensor) {
    const bool batched = tensor.batch.kind == BatchKind::Batched;
    (batched ? work.batch_bytes : work.fixed_bytes) += tensor.bytes();
  };
  std::vector<TensorId> seen;
  for (std::size_t i = 0; i < op.input_count(); ++i) {
    const TensorId id = op->inputs[i];
    if (!id.valid() || contains(rule.unread, i) || std::ranges::count(seen, id) > 0) continue;
    seen.push_back(id);
    const bool looked_up =
        contains(rule.lookups, i) && op.has_output(0) && op.output(0).bytes() < op.input(i).bytes();
    add(looked_up ? op.output(0) : op.input(i));
  }
  for (std::size_t i = 0; i < op.output_count(); ++i) add(op.output(i));
  if (op->phase != Phase::Update) return;
  for (std::size_t i = 0; i < op.input_count(); ++i) {  // written in place
    const TensorRole role = op.input(i).role;
    if (role == TensorRole::Parameter || role == TensorRole::OptimizerState)
      work.fixed_bytes += op.input(i).bytes();
  }
}

void check_inputs(const OpReader& op, const OpRule& rule, const std::string& file) {
  for (std::size_t i = 0; i < rule.min_inputs; ++i) {
    if (op.has_input(i) || contains(rule.left_out, i)) continue;
    throw InputError(file, fmt::format("op \"{}\"", op->name),
                     fmt::format("{} without input {}", op->type, i + 1),
                     fmt::format("{} needs {} inputs", op->type, rule.min_inputs));
  }
}

}  // namespace

const OpRule* find_rule(std::string_view type) {
  static const auto rules = all_rules();
  const auto found = rules.find(type);
  return found != rules.end() ? &found->second : nullptr;
}

const OpRule& rule_of(std::string_view type) {
  const OpRule* rule = find_rule(type);
  return rule ? *rule : unknown_rule();
}

TensorTypes infer_output_shapes(const Op& op, const IdVector<TensorId, Tensor>& tensors) {
  static const IdVector<OpId, Op> no_ops;
  const OpReader reader(op, no_ops, tensors);
  const OpRule& rule = rule_of(op.type);
  return rule.shape ? rule.shape(reader) : typed_like_first(reader, reader.in(0));
}

void describe(Op& op, const IdVector<OpId, Op>& ops, const IdVector<TensorId, Tensor>& tensors,
              const std::string& file) {
  const OpReader reader(op, ops, tensors);
  // A gradient op's row follows from its forward op's.
  const bool derived = op.attribute("wrt") != nullptr, sums_bias = op.type.ends_with("GradBias");
  const OpRule* known = find_rule(derived ? forward_type(op.type) : op.type);
  const OpRule& rule = known ? *known : unknown_rule();
  if (!derived) check_inputs(reader, rule, file);
  op.estimated = known == nullptr;
  op.family = derived && sums_bias ? OpFamily::Reduction : rule.family;
  op.view = rule.view;
  op.work = Work();
  op.work.kernels = op.view ? 0 : 1;
  if (op.view) return;
  const OpReader forward = derived ? reader.forward() : reader;
  if (rule.kernels) op.work.kernels = rule.kernels(forward);
  if (derived)
    op.work.flops = sums_bias ? product(reader.in(0)) : forward->work.flops * rule.gradient_work;
  else if (rule.flops)
    op.work.flops = rule.flops(reader);
  count_bytes(op.work, reader, derived ? OpRule() : rule);
}

}  // namespace strato
