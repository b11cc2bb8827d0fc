#include "core/graph/ops/arithmetic/matmul_rules.h"

#include <algorithm>

#include "core/graph/rules/contractions.h"
#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

double matmul_flops(const OpReader& op) {
  return 2 * op.elements() *
         static_cast<double>(extent(op.in(0), op->integer("transA", 0) ? -2 : -1));
}

double gemm_flops(const OpReader& op) {
  return 2 * op.elements() *
         static_cast<double>(extent(op.in(0), op->integer("transA", 0) ? 0 : 1));
}

BatchAnswer gemm_batch(BatchFlow& flow) {
  const BatchAnswer answer = batch_contracted(flow, gemm_letters(flow.op));
  const bool adds_bias_to_sum =
      answer && answer->kind == BatchKind::Partial && flow.op.has_input(2);
  return adds_bias_to_sum ? std::nullopt : answer;
}

// The extent that a letter stands for.
std::int64_t letter_extent(const OpReader& op, const Letters& letters, char letter) {
  std::int64_t largest = 1;
  for (std::size_t i = 0; i < letters.operands.size(); ++i) {
    const std::size_t at = letters.operands[i].find(letter);
    if (at == std::string::npos) continue;
    largest = std::max(largest, extent(op.in(i), static_cast<std::int64_t>(at)));
  }
  return largest;
}

double einsum_flops(const OpReader& op) {
  const Letters letters = einsum_letters(op);
  std::string all;
  for (const std::string& operand : letters.operands) all += operand;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  double flops = 2;
  for (const char letter : all) flops *= static_cast<double>(letter_extent(op, letters, letter));
  return flops;
}

TensorTypes einsum_shape(const OpReader& op) {
  const Letters letters = einsum_letters(op);
  if (letters.result.find('.') != std::string::npos) return {};
  Shape shape;
  for (const char letter : letters.result) shape.push_back(letter_extent(op, letters, letter));
  return {{op.input(0).type, shape}};
}

BatchAnswer einsum_batch(BatchFlow& flow) {
  const Letters letters = einsum_letters(flow.op);
  if (letters.result.find('.') != std::string::npos) return std::nullopt;
  return batch_contracted(flow, letters);
}

BatchAnswer matmul_batch(BatchFlow& flow) {
  return batch_contracted(flow, matmul_letters(flow.op));
}

OpRule matmul(std::string_view type) {
  return {.type = type,
          .family = OpFamily::MatMul,
          .min_inputs = 2,
          .shape = shape_matmul,
          .flops = matmul_flops,
          .batch = matmul_batch,
          .linear = Linearity::Each,
          .gradient = operand_gradients({x(1)}, {x(0)}),
          .differentiable = inputs({0, 1})};
}

OpRule linear_layer(std::string_view type) {
  return {.type = type,
          .family = OpFamily::MatMul,
          .min_inputs = 2,
          .shape = shape_gemm,
          .flops = gemm_flops,
          .batch = gemm_batch,
          .gradient = gradients({{"GradInput", "grad_input", 0, {x(1)}},
                                 {"GradWeight", "grad_weight", 1, {x(0)}},
                                 {"GradBias", "grad_bias", 2, {}}}),
          .differentiable = inputs({0, 1, 2})};
}

}  // namespace

OpRules matmul_rules() {
  return {
      matmul("MatMul"),
      matmul("FusedMatMul"),
      matmul("MatMulInteger"),
      linear_layer("FusedGemm"),  // com.microsoft
      linear_layer("Gemm"),
      {.type = "Einsum",
       .family = OpFamily::MatMul,
       .shape = einsum_shape,
       .flops = einsum_flops,
       .batch = einsum_batch,
       .linear = Linearity::Each,
       .gradient = operand_gradients({x(1)}, {x(0)}),
       .differentiable = inputs({0, 1})},
  };
}

}  // namespace strato
