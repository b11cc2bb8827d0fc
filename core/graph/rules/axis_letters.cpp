#include "core/graph/rules/axis_letters.h"

#include <algorithm>

namespace strato {
namespace {

// All other inputs are needed as a whole.
AxisLetters product_axes(const OpReader& op, const std::vector<std::string>& operands,
                         const std::string& result) {
  AxisLetters letters = all_mixed(op);
  for (std::size_t i = 0; i < std::min(operands.size(), letters.inputs.size()); ++i)
    letters.inputs[i] = operands[i];
  set_outputs(letters, result);
  return letters;
}

}  // namespace

std::string letters_of(std::size_t rank, const std::function<bool(int axis)>& is_mixed) {
  std::string result;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool mixes = is_mixed && is_mixed(static_cast<int>(i));
    result += mixes ? AxisLetters::kMixed : static_cast<char>('a' + i);
  }
  return result;
}

AxisLetters all_mixed(const OpReader& op) {
  AxisLetters result;
  for (std::size_t i = 0; i < op.input_count(); ++i)
    result.inputs.emplace_back(op.in(i).size(), AxisLetters::kMixed);
  for (std::size_t i = 0; i < op.output_count(); ++i)
    result.outputs.emplace_back(op.out(i).size(), AxisLetters::kMixed);
  return result;
}

void set_outputs(AxisLetters& letters, const std::string& first) {
  if (letters.outputs.empty()) letters.outputs.emplace_back();
  letters.outputs[0] = first;
  for (std::string& output : letters.outputs)
    if (output.size() == first.size()) output = first;
}

std::optional<AxisLetters> aligned_axes(const OpReader& op) {
  AxisLetters result = all_mixed(op);
  std::size_t rank = 0;
  for (const std::string& input : result.inputs) rank = std::max(rank, input.size());
  const std::string all = letters_of(rank);
  for (std::string& input : result.inputs) input = all.substr(rank - input.size());
  set_outputs(result, all);
  return result;
}

AxesRule kept_axes(MixesAxis mixes, std::size_t inputs) {
  return [mixes = std::move(mixes), inputs](const OpReader& op) {
    AxisLetters result = all_mixed(op);
    const std::string all =
        letters_of(op.in(0).size(), [&](int axis) { return mixes && mixes(op, axis); });
    for (std::size_t i = 0; i < std::min(inputs, result.inputs.size()); ++i)
      if (result.inputs[i].size() == all.size()) result.inputs[i] = all;
    set_outputs(result, all);
    return result;
  };
}

AxisLetters matmul_axes(const OpReader& op, std::size_t second) {
  const std::size_t rank_a = op.in(0).size(), rank_b = op.in(second).size();
  const std::size_t outer = std::max<std::size_t>({rank_a, rank_b, 2}) - 2;
  std::string result;
  for (std::size_t i = 0; i < outer; ++i) result += static_cast<char>('A' + i);
  const auto operand = [&](std::size_t rank, const char* inner, const char* turned, bool turns) {
    if (rank < 2) return std::string(rank, 'k');
    return result.substr(outer - (rank - 2)) + (turns ? turned : inner);
  };
  std::vector<std::string> operands(second + 1);
  operands[0] = operand(rank_a, "mk", "km", op->integer("transA", 0) != 0);
  operands[second] = operand(rank_b, "kn", "nk", op->integer("transB", 0) != 0);
  if (rank_a >= 2) result += 'm';
  if (rank_b >= 2) result += 'n';
  return product_axes(op, operands, result);
}

AxisLetters gemm_axes(const OpReader& op) {
  const std::string bias = std::string("mn").substr(2 - std::min<std::size_t>(2, op.in(2).size()));
  return product_axes(
      op, {op->integer("transA", 0) ? "km" : "mk", op->integer("transB", 0) ? "nk" : "kn", bias},
      "mn");
}

AxisLetters einsum_axes(const OpReader& op) {
  std::string equation = op->text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  std::vector<std::string> operands(1);
  for (const char c : left)
    if (c == ',')
      operands.emplace_back();
    else
      operands.back() += c;
  std::string result;
  if (arrow != std::string::npos) {
    result = equation.substr(arrow + 2);
  } else {
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::count(left.begin(), left.end(), c) == 1) result += c;
  }
  return product_axes(op, operands, result);
}

std::int64_t letter_extent(const OpReader& op, const AxisLetters& letters, char letter) {
  std::int64_t result = 1;
  for (std::size_t i = 0; i < letters.inputs.size() && result == 1; ++i) {
    const std::size_t at = letters.inputs[i].find(letter);
    if (at != std::string::npos) result = extent(op.in(i), static_cast<std::int64_t>(at));
  }
  return result;
}

}  // namespace strato
