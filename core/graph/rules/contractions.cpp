#include "core/graph/rules/contractions.h"

#include <algorithm>

namespace strato {
namespace {

// transA, transB of com.microsoft's FusedMatMul; MatMul has neither.
std::string swapped_if(bool swap, std::string letters) {
  if (swap && letters.size() >= 2)
    std::swap(letters[letters.size() - 1], letters[letters.size() - 2]);
  return letters;
}

}  // namespace

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

Letters gemm_letters(const OpReader& op) {
  const bool trans_a = op->integer("transA", 0) != 0, trans_b = op->integer("transB", 0) != 0;
  const std::string bias = std::string("mn").substr(2 - std::min<std::size_t>(2, op.in(2).size()));
  return {{trans_a ? "km" : "mk", trans_b ? "nk" : "kn", bias}, "mn"};
}

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

}  // namespace strato
