#include "core/graph/ops/product_rules.h"

#include <algorithm>

#include "core/graph/rules/shape_rules.h"

namespace strato {
namespace {

// The extents of the first operand and of the result that are multiplied for each other.
FlopsRule contracted_flops(std::int64_t axis, std::int64_t turned_axis) {
  return [=](const OpReader& op) {
    const std::int64_t along = op->integer("transA", 0) ? turned_axis : axis;
    return 2 * op.elements() * static_cast<double>(extent(op.in(0), along));
  };
}

TensorTypes matmul_shape(const OpReader& op) {
  const Shape &a = op.in(0), &b = op.in(1);
  if (a.empty() || b.empty()) return {};
  const auto outer = [](const Shape& shape) {
    return Shape(shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape)));
  };
  Shape shape = broadcast_shape(outer(a), outer(b));
  if (a.size() >= 2) shape.push_back(a[a.size() - 2]);
  if (b.size() >= 2) shape.push_back(b.back());
  return typed_like_first(op, shape);
}

OpRule matmul() {
  return {.family = OpFamily::MatMul,
          .min_inputs = 2,
          .shape = matmul_shape,
          .flops = contracted_flops(-1, -2),
          .batch = [](BatchFlow& flow) { return batch_contracted(flow, matmul_letters(flow.op)); },
          .linear = Linearity::Each,
          .gradient = operand_gradients({x(1)}, {x(0)}),
          .differentiable = inputs({0, 1})};
}

TensorTypes gemm_shape(const OpReader& op) {
  return typed_like_first(op, {extent(op.in(0), op->integer("transA", 0) ? 1 : 0),
                               extent(op.in(1), op->integer("transB", 0) ? 0 : 1)});
}

// A bias cannot be added to a sum over the batch.
BatchAnswer gemm_batch(BatchFlow& flow) {
  const BatchAnswer answer = batch_contracted(flow, gemm_letters(flow.op));
  const bool is_sum = answer && answer->kind == BatchKind::Partial;
  return is_sum && flow.op.has_input(2) ? std::nullopt : answer;
}

OpRule layer(OpFamily family, ShapeRule shape, FlopsRule flops, BatchRule batch) {
  return {.family = family,
          .min_inputs = 2,
          .shape = std::move(shape),
          .flops = std::move(flops),
          .batch = std::move(batch),
          .gradient = layer_gradients(),
          .differentiable = inputs({0, 1, 2})};
}

OpRule convolution(ShapeRule shape, FlopsRule flops) {
  return layer(OpFamily::Convolution, std::move(shape), std::move(flops),
               batch_kept(mixes_all_but_first));
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
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  double flops = 2;
  for (const char letter : all) flops *= static_cast<double>(letter_extent(op, letters, letter));
  return flops;
}

// An ellipsis is not read.
bool is_whole(const Letters& letters) { return letters.result.find('.') == std::string::npos; }

TensorTypes einsum_shape(const OpReader& op) {
  const Letters letters = einsum_letters(op);
  if (!is_whole(letters)) return {};
  Shape shape;
  for (const char letter : letters.result) shape.push_back(letter_extent(op, letters, letter));
  return typed_like_first(op, shape);
}

BatchAnswer einsum_batch(BatchFlow& flow) {
  const Letters letters = einsum_letters(flow.op);
  return is_whole(letters) ? batch_contracted(flow, letters) : std::nullopt;
}

OpRule einsum() {
  OpRule rule = matmul();
  rule.min_inputs = 1;
  rule.shape = einsum_shape;
  rule.flops = einsum_flops;
  rule.batch = einsum_batch;
  return rule;
}

}  // namespace

OpRules product_rules() {
  return {
      {{"FusedMatMul", "MatMul", "MatMulInteger"}, matmul()},
      {{"FusedGemm", "Gemm"},
       layer(OpFamily::MatMul, gemm_shape, contracted_flops(1, 0), gemm_batch)},
      {{"Einsum"}, einsum()},
      {{"Conv", "ConvInteger", "FusedConv"},
       convolution([](const OpReader& op) { return shape_convolution(op, 1); },
                   [](const OpReader& op) { return 2 * op.elements() * product(op.in(1), 1); })},
      {{"ConvTranspose"},
       convolution(
           shape_transposed_convolution,
           [](const OpReader& op) { return 2 * product(op.in(0)) * product(op.in(1), 1); })},
  };
}

}  // namespace strato
