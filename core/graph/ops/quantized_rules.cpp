#include "core/graph/ops/quantized_rules.h"

#include <algorithm>

#include "core/graph/rules/shape_rules.h"

namespace strato {
namespace {

constexpr std::size_t kSecond = 3;  // the second operand, behind the first's scale and zero point

// [..., m, k] x [..., k, n], outer axes aligned from the right; turned: [n, k].
Shape product_shape(const Shape& a, const Shape& b, bool turned) {
  if (a.size() < 2 || b.size() < 2) return {};
  Shape shape = broadcast_shape(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  shape.push_back(a[a.size() - 2]);
  shape.push_back(turned ? b[b.size() - 2] : b.back());
  return shape;
}

// The samples stay where they are, on any axis but the last.
BatchRule rows_kept() {
  return batch_kept(
      [](const OpReader& op, int axis) { return axis + 1 == static_cast<int>(op.in(0).size()); });
}

double product_flops(const OpReader& op) {
  const bool turned = op->integer("transA", 0) != 0;
  return 2 * op.elements() * static_cast<double>(extent(op.in(0), turned ? -2 : -1));
}

OpRule quantized_product(std::size_t second, bool floating) {
  return {.family = OpFamily::MatMul,
          .min_inputs = second + 1,
          .shape = [=](const OpReader& op) -> TensorTypes {
            const bool turned = op->integer("transB", 0) != 0;
            Shape shape = product_shape(op.in(0), op.in(second), turned);
            if (shape.empty()) return {};
            return {{floating ? DataType::F32 : op.input(0).type, std::move(shape)}};
          },
          .flops = product_flops,
          .batch = rows_kept()};
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
          .flops = product_flops,
          .batch = rows_kept(),
          .gradient = gradient({x(1), x(2)})};
}

// Both operands with samples, or the second without.
BatchAnswer aligned_operands(BatchFlow& flow) {
  const int axis = flow.axis(0);
  const bool alike = flow.op.in(0).size() == flow.op.in(kSecond).size();
  return flow.on_if(
      axis >= 0 && (alike ? flow.requires_batch(kSecond, axis) : flow.axis(kSecond) < 0), axis);
}

OpRule quantized_elementwise() {
  return {.min_inputs = kSecond + 1,
          .shape =
              [](const OpReader& op) {
                return typed_like_first(op, broadcast_shape(op.in(0), op.in(kSecond)));
              },
          .flops = per_element(3),
          .batch = aligned_operands};
}

OpRule quantized_alike(double flops, MixesAxis mixes) {
  return {.flops = per_element(flops), .batch = batch_kept(std::move(mixes))};
}

OpRule quantized_pooling(ShapeRule shape) {
  return {.family = OpFamily::Pooling,
          .shape = std::move(shape),
          .flops = per_input_element(1),
          .batch = batch_kept(mixes_all_but_first)};
}

// The result's scale and zero point, then (x, scale, zero point) for each operand.
TensorTypes joined_shape(const OpReader& op) {
  Shape shape = op.in(2);
  const int axis = op.axis("axis", 0, shape.size());
  if (axis < 0 || axis >= static_cast<int>(shape.size())) return {};
  for (std::size_t i = 5; i < op.input_count(); i += 3)
    shape[static_cast<std::size_t>(axis)] += extent(op.in(i), axis);
  return {{op.input(2).type, std::move(shape)}};
}

BatchAnswer joined_batch(BatchFlow& flow) {
  const int axis = flow.axis(2);
  bool follows = axis >= 0 && axis != flow.op.axis("axis", 0, flow.op.in(2).size());
  for (std::size_t i = 5; i < flow.op.input_count(); i += 3)
    follows = flow.requires_batch(i, axis) && follows;
  return flow.on_if(follows, axis);
}

}  // namespace

OpRules quantized_rules() {
  return {
      {{"DynamicQuantizeMatMul", "MatMulIntegerToFloat"}, quantized_product(1, true)},
      {{"QGemm", "QLinearMatMul"}, quantized_product(kSecond, false)},
      {{"MatMulNBits"}, few_bits_product()},
      {{"QLinearConv"},
       {.family = OpFamily::Convolution,
        .min_inputs = kSecond + 1,
        .shape = [](const OpReader& op) { return shape_convolution(op, kSecond); },
        .flops = [](const OpReader& op) { return 2 * op.elements() * product(op.in(kSecond), 1); },
        .batch = batch_kept(mixes_all_but_first)}},
      {{"QLinearAdd", "QLinearMul"}, quantized_elementwise()},
      {{"QLinearLeakyRelu"}, quantized_alike(3, nullptr)},
      {{"QLinearSigmoid"}, quantized_alike(12, nullptr)},
      {{"QLinearSoftmax"}, quantized_alike(15, mixes_along("axis", -1))},
      {{"QLinearAveragePool"}, quantized_pooling(shape_pool)},
      {{"QLinearGlobalAveragePool"}, quantized_pooling(shape_global_pool)},
      {{"QLinearConcat"},
       {.family = OpFamily::DataMovement,
        .min_inputs = 3,
        .shape = joined_shape,
        .batch = joined_batch}},
  };
}

}  // namespace strato
