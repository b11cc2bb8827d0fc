#include "core/graph/ops/product_rules.h"

#include <algorithm>

namespace strato {
namespace {

constexpr std::size_t kSecond = 3;  // the second operand, behind the first's scale and zero point

// ---- products of matrices

using ProductAxes = std::function<AxisLetters(const OpReader&)>;

OpRule contraction(const ProductAxes& axes) {
  const auto flops = [axes](const OpReader& op) {
    const std::int64_t summed = letter_extent(op, axes(op), 'k');
    return 2 * op.elements() * static_cast<double>(summed);
  };
  return lettered({.family = OpFamily::MatMul,
                   .min_inputs = 2,
                   .flops = flops,
                   .linear = Linearity::Each,
                   .gradient = operand_gradients({x(1)}, {x(0)}),
                   .differentiable = inputs({0, 1})},
                  axes);
}

// "GradInput" reads the weights (input 1), "GradWeight" input 0, "GradBias" nothing.
GradientRule layer_gradients() {
  return gradients({{"GradInput", "grad_input", 0, {x(1)}},
                    {"GradWeight", "grad_weight", 1, {x(0)}},
                    {"GradBias", "grad_bias", 2, {}}});
}

OpRule gemm() {
  OpRule rule = contraction(gemm_axes);
  // A bias cannot be added to a sum over the batch.
  rule.batch = [](BatchFlow& flow) {
    const BatchAnswer answer = batch_by(gemm_axes)(flow);
    const bool is_sum = answer && answer->kind == BatchKind::Partial;
    return is_sum && flow.op.has_input(2) ? std::nullopt : answer;
  };
  rule.linear = Linearity::None;
  rule.gradient = layer_gradients();
  rule.differentiable = inputs({0, 1, 2});
  return rule;
}

double einsum_flops(const OpReader& op) {
  const AxisLetters letters = einsum_axes(op);
  std::string seen;
  double flops = 2;
  for (const std::string& operand : letters.inputs) {
    for (const char letter : operand) {
      if (seen.find(letter) != std::string::npos) continue;
      seen += letter;
      flops *= static_cast<double>(letter_extent(op, letters, letter));
    }
  }
  return flops;
}

OpRule einsum() {
  OpRule rule = contraction(einsum_axes);
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
  const auto axes = [second](const OpReader& op) { return matmul_axes(op, second); };
  OpRule rule = quantized(contraction(axes));
  rule.min_inputs = second + 1;
  rule.shape = [=](const OpReader& op) {
    TensorTypes types = shape_by(axes(op), op);
    if (floating) types[0].type = DataType::F32;
    return types;
  };
  rule.batch = rows_kept();
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

// A part would have to hold whole groups of channels; only groups of one channel are simple.
std::optional<AxisLetters> convolution_axes(const OpReader& op) {
  const std::int64_t groups = op->integer("group", 1);
  const bool transposed = op->type == "ConvTranspose";
  const bool depthwise =
      groups > 1 && groups == extent(op.in(0), 1) && groups == extent(op.out(), 1);
  if ((groups > 1 && !depthwise) || op.in(0).size() < 2) return std::nullopt;
  AxisLetters result = all_mixed(op);
  const std::string window(op.in(0).size() - 2, AxisLetters::kMixed);
  const std::string in = depthwise ? "o" : "c";
  result.inputs[0] = "n" + in + window;
  result.inputs[1] = (depthwise ? "o." : transposed ? "co" : "oc") + window;
  if (op->type != "ConvInteger" && result.inputs.size() > 2) result.inputs[2] = "o";
  result.outputs[0] = "no" + window;
  return result;
}

OpRule convolution(std::size_t filter = 1) {
  return {
      .family = OpFamily::Convolution,
      .min_inputs = filter + 1,
      .shape = [=](const OpReader& op) { return shape_convolution(op, filter); },
      .axes = convolution_axes,
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

// x, filters, offsets, bias, mask
OpRule deformable_convolution() {
  OpRule rule = convolution();
  rule.family = OpFamily::Other;
  rule.axes = nullptr;
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
       contraction([](const OpReader& op) { return matmul_axes(op); })},
      {{"FusedGemm", "Gemm"}, gemm()},
      {{"Einsum"}, einsum()},
      {{"DynamicQuantizeMatMul", "MatMulIntegerToFloat"}, quantized_product(1, true)},
      {{"QGemm", "QLinearMatMul"}, quantized_product(kSecond, false)},
      {{"MatMulNBits"}, few_bits_product()},
      {{"Conv", "ConvInteger", "FusedConv"}, convolution()},
      {{"ConvTranspose"}, transposed_convolution()},
      {{"QLinearConv"}, quantized(convolution(kSecond))},
      {{"DeformConv"}, deformable_convolution()},
  };
}

}  // namespace strato
