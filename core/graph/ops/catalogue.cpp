#include "core/graph/ops/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/ops/arithmetic/binary_rules.h"
#include "core/graph/ops/arithmetic/convolution_rules.h"
#include "core/graph/ops/arithmetic/matmul_rules.h"
#include "core/graph/ops/arithmetic/normalization_rules.h"
#include "core/graph/ops/arithmetic/quantized_rules.h"
#include "core/graph/ops/arithmetic/reduction_rules.h"
#include "core/graph/ops/arithmetic/unary_rules.h"
#include "core/graph/ops/layers/attention_rules.h"
#include "core/graph/ops/layers/loss_rules.h"
#include "core/graph/ops/layers/pooling_rules.h"
#include "core/graph/ops/layers/recurrent_rules.h"
#include "core/graph/ops/layers/update_rules.h"
#include "core/graph/ops/layout/geometry_rules.h"
#include "core/graph/ops/layout/indexing_rules.h"
#include "core/graph/ops/layout/movement_rules.h"
#include "core/graph/ops/layout/view_rules.h"
#include "core/graph/rules/batch_rules.h"
#include "core/graph/rules/gradient_rules.h"
#include "core/graph/rules/op_rule.h"
#include "core/graph/rules/shape_rules.h"
#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

using Ops = IdVector<OpId, Op>;
using Tensors = IdVector<TensorId, Tensor>;

OpRules all_rules() {
  OpRules rules;
  for (const auto& family :
       {matmul_rules, convolution_rules, attention_rules, quantized_rules, geometry_rules,
        pooling_rules, unary_rules, binary_rules, normalization_rules, reduction_rules, view_rules,
        movement_rules, indexing_rules, recurrent_rules, loss_rules, update_rules}) {
    OpRules table = family();
    std::move(table.begin(), table.end(), std::back_inserter(rules));
  }
  std::sort(rules.begin(), rules.end(),
            [](const OpRule& a, const OpRule& b) { return a.type < b.type; });
  return rules;
}

// A type that the catalogue does not know: elementwise work, everything read again for the
// gradient.
OpRule make_unknown_rule() {
  OpRule rule;
  rule.type = "?";
  rule.min_inputs = 0;
  rule.flops = [](const OpReader& op) { return op.elements(); };
  rule.batch = batch_kept();
  rule.differentiable = all_inputs;
  rule.gradient = [](GradientWriter& writer) {
    std::vector<Saved> reads;
    for (std::size_t i = 0; i < writer.forward().input_count(); ++i) reads.push_back(x(i));
    gradient(reads)(writer);
  };
  return rule;
}

const OpRule& unknown_rule() {
  static const OpRule rule = make_unknown_rule();
  return rule;
}

// "ConvGradWeight" -> "Conv"
std::string_view forward_type(std::string_view type) {
  const std::size_t at = type.rfind("Grad");
  return at == std::string_view::npos ? type : type.substr(0, at);
}

class WorkCounter {
 public:
  WorkCounter(const OpReader& op, const OpRule& rule) : op_(op), rule_(rule) {}

  void count(Work& work) const {
    std::vector<TensorId> seen;
    for (std::size_t i = 0; i < op_.input_count(); ++i) {
      if (op_.has_input(i) && !contains(rule_.unread, i) && first_time(seen, op_->inputs[i])) {
        count_input(i, work);
      }
    }
    for (std::size_t i = 0; i < op_.output_count(); ++i) add(op_.output(i), op_.output(i), work);
    if (op_->phase == Phase::Update) count_written_state(work);
  }

 private:
  static bool first_time(std::vector<TensorId>& seen, TensorId id) {
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) return false;
    seen.push_back(id);
    return true;
  }

  static void add(const Tensor& moved, const Tensor& follows, Work& work) {
    const bool batched = follows.batch.kind == BatchKind::Batched;
    (batched ? work.batch_bytes : work.fixed_bytes) += moved.bytes();
  }

  void count_input(std::size_t i, Work& work) const {
    const Tensor& input = op_.input(i);
    const bool looked_up =
        contains(rule_.lookups, i) && op_.has_output(0) && op_.output(0).bytes() < input.bytes();
    looked_up ? add(op_.output(0), op_.output(0), work) : add(input, input, work);
  }

  // An update writes its parameter and its state in place.
  void count_written_state(Work& work) const {
    for (std::size_t i = 0; i < op_.input_count(); ++i) {
      const TensorRole role = op_.input(i).role;
      if (role == TensorRole::Parameter || role == TensorRole::OptimizerState) {
        work.fixed_bytes += op_.input(i).bytes();
      }
    }
  }

  const OpReader& op_;
  const OpRule& rule_;
};

void describe_forward(Op& op, const OpReader& reader, const OpRule& rule) {
  op.family = rule.family;
  op.view = rule.view;
  if (op.view) {
    op.work.kernels = 0;
    return;
  }
  op.work.flops = rule.flops ? rule.flops(reader) : 0;
  op.work.kernels = rule.kernels ? rule.kernels(reader) : 1;
  WorkCounter(reader, rule).count(op.work);
}

// A gradient op's row follows from its forward op's.
void describe_gradient(Op& op, const OpReader& reader, const OpRule& rule) {
  const bool sums_bias = op.type.ends_with("GradBias");
  op.family = sums_bias ? OpFamily::Reduction : rule.family;
  op.view = rule.view;
  if (op.view) {
    op.work.kernels = 0;
    return;
  }
  const OpReader forward = reader.forward();
  op.work.flops = sums_bias ? product(reader.in(0)) : forward->work.flops * rule.gradient_work;
  op.work.kernels = rule.kernels ? rule.kernels(forward) : 1;
  OpRule reads_all;
  WorkCounter(reader, reads_all).count(op.work);
}

}  // namespace

const OpRule* find_rule(std::string_view type) {
  static const OpRules rules = all_rules();
  const auto found =
      std::lower_bound(rules.begin(), rules.end(), type,
                       [](const OpRule& rule, std::string_view t) { return rule.type < t; });
  return found != rules.end() && found->type == type ? &*found : nullptr;
}

const OpRule& rule_of(std::string_view type) {
  const OpRule* rule = find_rule(type);
  return rule ? *rule : unknown_rule();
}

std::vector<TensorType> infer_output_shapes(const Op& op, const Tensors& tensors) {
  static const Ops no_ops;
  const OpReader reader(op, no_ops, tensors);
  const OpRule& rule = rule_of(op.type);
  return rule.shape ? rule.shape(reader) : shape_like_first(reader);
}

void describe(Op& op, const Ops& ops, const Tensors& tensors, const std::string& file) {
  const OpReader reader(op, ops, tensors);
  const bool derived = op.attribute("wrt") != nullptr;
  const OpRule* rule = find_rule(derived ? forward_type(op.type) : std::string_view(op.type));
  op.estimated = rule == nullptr;
  if (!rule) rule = &unknown_rule();
  op.work = Work();
  if (derived) return describe_gradient(op, reader, *rule);
  for (std::size_t i = 0; i < rule->min_inputs; ++i) {
    if (reader.has_input(i)) continue;
    throw InputError(file, fmt::format("op \"{}\"", op.name),
                     fmt::format("{} without input {}", op.type, i + 1),
                     fmt::format("{} needs {} inputs", op.type, rule->min_inputs));
  }
  describe_forward(op, reader, *rule);
}

}  // namespace strato
