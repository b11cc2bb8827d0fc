// Products of matrices. A multiply-add counts two FLOPs; a bias rides along in the kernel and
// counts none.
#include <algorithm>

#include "core/graph/catalogue_rows.h"

namespace strato {
namespace {

// transA, transB of com.microsoft's FusedMatMul; MatMul has neither.
std::string swapped_if(bool swap, std::string letters) {
  if (swap && letters.size() >= 2)
    std::swap(letters[letters.size() - 1], letters[letters.size() - 2]);
  return letters;
}

// Outer axes align from the right: "abmk,abkn->abmn".
Letters matmul_letters(const OpReader& op) {
  const std::size_t rank_a = op.in(0).size(), rank_b = op.in(1).size();
  const std::size_t outer = std::max<std::size_t>({rank_a, rank_b, 2}) - 2;
  std::string axes;
  for (std::size_t i = 0; i < outer; ++i) axes += static_cast<char>('A' + i);
  const auto operand = [&](std::size_t rank, std::string_view inner, char alone) {
    if (rank < 2) return std::string(rank, alone);
    return axes.substr(outer - (rank - 2)) + std::string(inner);
  };
  const bool trans_a = op->integer("transA", 0) != 0, trans_b = op->integer("transB", 0) != 0;
  Letters letters = {{swapped_if(trans_a, operand(rank_a, "mk", 'k')),
                      swapped_if(trans_b, operand(rank_b, "kn", 'k'))},
                     axes};
  if (rank_a >= 2) letters.result += 'm';
  if (rank_b >= 2) letters.result += 'n';
  return letters;
}

double matmul_flops(const OpReader& op) {
  return 2 * op.elements() *
         static_cast<double>(extent(op.in(0), op->integer("transA", 0) ? -2 : -1));
}

double gemm_flops(const OpReader& op) {
  return 2 * op.elements() *
         static_cast<double>(extent(op.in(0), op->integer("transA", 0) ? 0 : 1));
}

BatchAnswer gemm_batch(BatchFlow& flow) {
  const bool trans_a = flow.op->integer("transA", 0) != 0;
  const bool trans_b = flow.op->integer("transB", 0) != 0;
  const std::string bias =
      std::string("mn").substr(2 - std::min<std::size_t>(2, flow.op.in(2).size()));
  const BatchAnswer answer =
      batch_contracted(flow, {{trans_a ? "km" : "mk", trans_b ? "nk" : "kn", bias}, "mn"});
  const bool adds_bias_to_sum =
      answer && answer->kind == BatchKind::Partial && flow.op.has_input(2);
  return adds_bias_to_sum ? std::nullopt : answer;
}

// "bij,bjk->bik"; an equation without "->" keeps the letters that occur once, ascending.
Letters einsum_letters(const OpReader& op) {
  std::string equation = op->text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  Letters letters = {{std::string()}, {}};
  for (const char c : left) {
    if (c == ',') {
      letters.operands.emplace_back();
    } else {
      letters.operands.back() += c;
    }
  }
  if (arrow != std::string::npos) {
    letters.result = equation.substr(arrow + 2);
  } else {
    for (char c = 'A'; c <= 'z'; ++c) {
      if (std::count(left.begin(), left.end(), c) == 1) letters.result += c;
    }
  }
  return letters;
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

}  // namespace

OpRules matmul_rules() {
  return {
      matmul("MatMul"),
      matmul("FusedMatMul"),
      matmul("MatMulInteger"),
      {.type = "Gemm",
       .family = OpFamily::MatMul,
       .min_inputs = 2,
       .shape = shape_gemm,
       .flops = gemm_flops,
       .batch = gemm_batch,
       .gradient = gradients({{"GradInput", "grad_input", 0, {x(1)}},
                              {"GradWeight", "grad_weight", 1, {x(0)}},
                              {"GradBias", "grad_bias", 2, {}}}),
       .differentiable = inputs({0, 1, 2})},
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
