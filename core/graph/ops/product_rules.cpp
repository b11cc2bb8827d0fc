#include "core/graph/ops/product_rules.h"

#include <algorithm>

namespace strato {
namespace {

constexpr std::size_t kSecond = 3;  // the second operand, behind the first's scale and zero point

// ---- products of matrices

using LettersRule = std::function<Letters(const OpReader&)>;

// The extent that a letter stands for: an extent of 1 stretches.
std::int64_t letter_extent(const OpReader& op, const Letters& letters, char letter) {
  std::int64_t result = 1;
  for (std::size_t i = 0; i < letters.operands.size() && result == 1; ++i) {
    const std::size_t at = letters.operands[i].find(letter);
    if (at != std::string::npos) result = extent(op.in(i), static_cast<std::int64_t>(at));
  }
  return result;
}

// An ellipsis is not read.
bool is_whole(const Letters& letters) { return letters.result.find('.') == std::string::npos; }

TensorTypes contracted_shape(const OpReader& op, const Letters& letters) {
  if (!is_whole(letters)) return {};
  Shape shape;
  for (const char letter : letters.result) shape.push_back(letter_extent(op, letters, letter));
  return typed_like_first(op, std::move(shape));
}

OpRule contraction(const LettersRule& letters_of) {
  return {.family = OpFamily::MatMul,
          .min_inputs = 2,
          .shape = [=](const OpReader& op) { return contracted_shape(op, letters_of(op)); },
          .flops =
              [=](const OpReader& op) {
                const std::int64_t summed = letter_extent(op, letters_of(op), 'k');
                return 2 * op.elements() * static_cast<double>(summed);
              },
          .batch =
              [=](BatchFlow& flow) {
                const Letters letters = letters_of(flow.op);
                return is_whole(letters) ? batch_contracted(flow, letters) : std::nullopt;
              },
          .linear = Linearity::Each,
          .gradient = operand_gradients({x(1)}, {x(0)}),
          .differentiable = inputs({0, 1})};
}

// "GradInput" reads the weights (input 1), "GradWeight" input 0, "GradBias" nothing.
GradientRule layer_gradients() {
  return gradients({{"GradInput", "grad_input", 0, {x(1)}},
                    {"GradWeight", "grad_weight", 1, {x(0)}},
                    {"GradBias", "grad_bias", 2, {}}});
}

OpRule gemm() {
  OpRule rule = contraction(gemm_letters);
  // A bias cannot be added to a sum over the batch.
  rule.batch = [](BatchFlow& flow) {
    const BatchAnswer answer = batch_contracted(flow, gemm_letters(flow.op));
    const bool is_sum = answer && answer->kind == BatchKind::Partial;
    return is_sum && flow.op.has_input(2) ? std::nullopt : answer;
  };
  rule.linear = Linearity::None;
  rule.gradient = layer_gradients();
  rule.differentiable = inputs({0, 1, 2});
  return rule;
}

double einsum_flops(const OpReader& op) {
  const Letters letters = einsum_letters(op);
  std::string seen;
  double flops = 2;
  for (const std::string& operand : letters.operands) {
    for (const char letter : operand) {
      if (seen.find(letter) != std::string::npos) continue;
      seen += letter;
      flops *= static_cast<double>(letter_extent(op, letters, letter));
    }
  }
  return flops;
}

OpRule einsum() {
  OpRule rule = contraction(einsum_letters);
  rule.min_inputs = 1;
  rule.flops = einsum_flops;
  return rule;
}

// The samples stay where they are, on any axis but the last.
BatchRule rows_kept() {
  return batch_kept(
      [](const OpReader& op, int axis) { return axis + 1 == static_cast<int>(op.in(0).size()); });
}

OpRule quantized_product(std::size_t second, bool floating) {
  const auto letters = [second](const OpReader& op) { return matmul_letters(op, second); };
  OpRule rule = contraction(letters);
  rule.min_inputs = second + 1;
  rule.shape = [=](const OpReader& op) {
    TensorTypes types = contracted_shape(op, letters(op));
    if (floating) types[0].type = DataType::F32;
    return types;
  };
  rule.batch = rows_kept();
  rule.linear = Linearity::None;
  rule.gradient = nullptr;
  return rule;
}

// x, packed weights, scales: the attributes K and N are the weights' extents.
OpRule few_bits_product() {
  return {.family = OpFamily::MatMul,
          .min_inputs = 3,
          .shape = [](const OpReader& op) -> TensorTypes {
            Shape shape = op.in(0);
            if (shape.empty()) return {};
            shape.back() = std::max<std::int64_t>(1, op->integer("N", 1));
            return typed_like_first(op, std::move(shape));
          },
          .flops =
              [](const OpReader& op) {
                return 2 * op.elements() * static_cast<double>(extent(op.in(0), -1));
              },
          .batch = rows_kept(),
          .gradient = gradient({x(1), x(2)})};
}

// ---- convolutions

OpRule convolution(std::size_t filter = 1) {
  return {
      .family = OpFamily::Convolution,
      .min_inputs = filter + 1,
      .shape = [=](const OpReader& op) { return shape_convolution(op, filter); },
      .flops = [=](const OpReader& op) { return 2 * op.elements() * product(op.in(filter), 1); },
      .batch = batch_kept(mixes_all_but_first),
      .gradient = layer_gradients(),
      .differentiable = inputs({0, 1, 2})};
}

OpRule transposed_convolution() {
  OpRule rule = convolution();
  rule.shape = shape_transposed_convolution;
  rule.flops = [](const OpReader& op) { return 2 * product(op.in(0)) * product(op.in(1), 1); };
  return rule;
}

OpRule quantized_convolution() {
  OpRule rule = convolution(kSecond);
  rule.gradient = nullptr;
  return rule;
}

// x, filters, offsets, bias, mask
OpRule deformable_convolution() {
  OpRule rule = convolution();
  rule.family = OpFamily::Other;
  rule.min_inputs = 3;
  rule.flops = [](const OpReader& op) {
    return 2 * op.elements() * product(op.in(1), 1) + 10 * product(op.in(2));
  };
  rule.batch = samples_first(inputs({2, 4}));
  rule.gradient = gradients({{"GradInput", "grad_input", 0, {x(1), x(2)}},
                             {"GradWeight", "grad_weight", 1, {x(0), x(2)}},
                             {"GradOffset", "grad_offset", 2, {x(0), x(1), x(2)}},
                             {"GradBias", "grad_bias", 3, {}},
                             {"GradMask", "grad_mask", 4, {x(0), x(1), x(2)}}});
  rule.differentiable = inputs({0, 1, 2, 3, 4});
  return rule;
}

}  // namespace

OpRules product_rules() {
  return {
      {{"FusedMatMul", "MatMul", "MatMulInteger"},
       contraction([](const OpReader& op) { return matmul_letters(op); })},
      {{"FusedGemm", "Gemm"}, gemm()},
      {{"Einsum"}, einsum()},
      {{"DynamicQuantizeMatMul", "MatMulIntegerToFloat"}, quantized_product(1, true)},
      {{"QGemm", "QLinearMatMul"}, quantized_product(kSecond, false)},
      {{"MatMulNBits"}, few_bits_product()},
      {{"Conv", "ConvInteger", "FusedConv"}, convolution()},
      {{"ConvTranspose"}, transposed_convolution()},
      {{"QLinearConv"}, quantized_convolution()},
      {{"DeformConv"}, deformable_convolution()},
  };
}

}  // namespace strato
