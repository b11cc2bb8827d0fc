#include <algorithm>
#include <functional>

#include "core/graph/axes/split_axes.h"
#include "core/graph/ops/catalogue.h"
#include "core/graph/rules/op_rule.h"

namespace strato {
namespace {

using Answer = std::optional<AxisLetters>;
using IsMixed = std::function<bool(int axis)>;
constexpr char kMixed = AxisLetters::kMixed;
constexpr std::size_t kMostAxes = 26;

std::string mixed(std::size_t rank) { return std::string(rank, kMixed); }

// "abcd", with kMixed where asked for.
std::string letters(std::size_t rank, const IsMixed& is_mixed = nullptr) {
  std::string result;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool mixes = is_mixed && is_mixed(static_cast<int>(i));
    result += mixes ? kMixed : static_cast<char>('a' + i);
  }
  return result;
}

// All of every input is needed, unless it is said otherwise.
AxisLetters start(const OpReader& op) {
  AxisLetters result;
  for (std::size_t i = 0; i < op.input_count(); ++i)
    result.inputs.push_back(mixed(op.in(i).size()));
  for (std::size_t i = 0; i < op.output_count(); ++i)
    result.outputs.push_back(mixed(op.out(i).size()));
  return result;
}

// All outputs that have as many axes as the first.
void set_outputs(AxisLetters& result, const std::string& first) {
  for (std::string& output : result.outputs)
    if (output.size() == first.size()) output = first;
}

// Numpy's broadcasting: aligned from the right.
AxisLetters elementwise(const OpReader& op) {
  AxisLetters result = start(op);
  std::size_t rank = 0;
  for (const std::string& input : result.inputs) rank = std::max(rank, input.size());
  const std::string all = letters(rank);
  for (std::string& input : result.inputs) input = all.substr(rank - input.size());
  set_outputs(result, all);
  return result;
}

// The output is like the first `inputs` inputs.
AxisLetters alike(const OpReader& op, const IsMixed& is_mixed, std::size_t inputs = 1) {
  AxisLetters result = start(op);
  const std::string all = letters(op.in(0).size(), is_mixed);
  for (std::size_t i = 0; i < std::min(inputs, result.inputs.size()); ++i)
    if (result.inputs[i].size() == all.size()) result.inputs[i] = all;
  set_outputs(result, all);
  return result;
}

IsMixed along(int axis) {
  return [axis](int i) { return i == axis; };
}

AxisLetters contraction(const OpReader& op, const Letters& notation) {
  AxisLetters result = start(op);
  for (std::size_t i = 0; i < std::min(notation.operands.size(), result.inputs.size()); ++i)
    result.inputs[i] = notation.operands[i];
  set_outputs(result, notation.result);
  return result;
}

// A part would have to hold whole groups of channels; only groups of one channel are simple.
Answer convolution(const OpReader& op) {
  const std::int64_t groups = op->integer("group", 1);
  const bool transposed = op->type == "ConvTranspose";
  const bool depthwise =
      groups > 1 && groups == extent(op.in(0), 1) && groups == extent(op.out(), 1);
  if ((groups > 1 && !depthwise) || op.in(0).size() < 2) return std::nullopt;
  AxisLetters result = start(op);
  const std::string window = mixed(op.in(0).size() - 2);
  const std::string in = depthwise ? "o" : "c";
  result.inputs[0] = "n" + in + window;
  result.inputs[1] = (depthwise ? "o." : transposed ? "co" : "oc") + window;
  if (op->type != "ConvInteger" && result.inputs.size() > 2) result.inputs[2] = "o";
  result.outputs[0] = "no" + window;
  return result;
}

// Statistics are of each channel (axis 1) over the samples, or over each sample of them.
AxisLetters channel_normalization(const OpReader& op, bool over_samples) {
  AxisLetters result =
      alike(op, [=](int axis) { return axis >= 2 || (axis == 0 && over_samples); });
  const std::string channel = letters(2).substr(1);
  for (std::size_t i = 1; i < result.inputs.size(); ++i)
    if (result.inputs[i].size() == 1) result.inputs[i] = channel;
  for (std::string& output : result.outputs)
    if (output.size() == 1) output = channel;
  return result;
}

Answer normalization(const OpReader& op) {
  const std::string& type = op->type;
  if (type == "BatchNormalization") return channel_normalization(op, true);
  if (type == "InstanceNormalization") return channel_normalization(op, false);
  if (type == "LpNormalization") return alike(op, along(op.axis("axis", -1, op.in(0).size())));
  if (type == "LayerNormalization" || type == "RMSNormalization" ||
      type == "SimplifiedLayerNormalization" || type.starts_with("Skip")) {
    const int first = op.axis("axis", -1, op.in(0).size());
    return alike(
        op, [first](int axis) { return axis >= first; }, type.starts_with("Skip") ? 2 : 1);
  }
  return std::nullopt;
}

Answer reduction(const OpReader& op) {
  const std::size_t rank = op.in(0).size();
  if (op->type == "CumSum") return std::nullopt;
  std::vector<int> axes;
  if (op->type.starts_with("Arg")) {
    axes = {op.axis("axis", 0, rank)};
  } else {
    if (op.has_input(1) && !op.constant(1)) return std::nullopt;
    axes = reduced_axes(op);
  }
  AxisLetters result = start(op);
  result.inputs[0] = letters(rank);
  std::string out;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool reduced = std::ranges::count(axes, static_cast<int>(i)) > 0;
    if (!reduced || op->integer("keepdims", 1) != 0) out += reduced ? kMixed : result.inputs[0][i];
  }
  set_outputs(result, out);
  return result;
}

// out = data[:axis] + indices + data[axis + 1:]
Answer gather(const OpReader& op) {
  const std::size_t rank = op.in(0).size(), indices = op.in(1).size();
  const int axis = op.axis("axis", 0, rank);
  if (axis < 0 || axis >= static_cast<int>(rank) || rank + indices > kMostAxes) return std::nullopt;
  const std::string all = letters(rank + indices), data = all.substr(0, rank);
  const auto at = static_cast<std::size_t>(axis);
  AxisLetters result = start(op);
  result.inputs[0] = data;
  result.inputs[0][at] = kMixed;
  result.inputs[1] = all.substr(rank);
  set_outputs(result, data.substr(0, at) + result.inputs[1] + data.substr(at + 1));
  return result;
}

AxisLetters transposition(const OpReader& op) {
  AxisLetters result = alike(op, nullptr);
  const std::string& in = result.inputs[0];
  std::string out(in.rbegin(), in.rend());
  const auto permutation = op->integers("perm");
  for (std::size_t i = 0; i < std::min(permutation.size(), out.size()); ++i) {
    const int from = wrap_axis(permutation[i], in.size());
    out[i] = from >= 0 && from < static_cast<int>(in.size()) ? in[static_cast<std::size_t>(from)]
                                                             : kMixed;
  }
  set_outputs(result, out);
  return result;
}

// Axes of another extent are cut or filled up.
AxisLetters same_extents(const OpReader& op, const IsMixed& is_mixed) {
  return alike(op, [&](int axis) {
    return extent(op.in(0), axis) != extent(op.out(), axis) || (is_mixed && is_mixed(axis));
  });
}

Answer padding(const OpReader& op) {
  const auto pads = op.list("pads", 1);
  const std::size_t rank = op.in(0).size();
  if (!pads || pads->size() != 2 * rank) return std::nullopt;
  return same_extents(op, [&](int axis) {
    const auto at = static_cast<std::size_t>(axis);
    return (*pads)[at] != 0 || (*pads)[at + rank] != 0;
  });
}

// Slices that go backwards may keep an extent and turn the axis round.
Answer slicing(const OpReader& op) {
  if (op.has_input(4)) {
    const auto steps = op.constant(4);
    const auto backwards = [](std::int64_t step) { return step < 1; };
    if (!steps || std::any_of(steps->begin(), steps->end(), backwards)) return std::nullopt;
  }
  return same_extents(op, nullptr);
}

Answer movement(const OpReader& op) {
  const std::string& type = op->type;
  const std::size_t rank = op.in(0).size();
  if (type == "Transpose") return transposition(op);
  if (type == "Pad") return padding(op);
  if (type == "Slice") return slicing(op);
  if (type == "Tile") return same_extents(op, nullptr);
  if (type == "Split") return alike(op, along(op.axis("axis", 0, rank)));
  if (type == "Concat") return alike(op, along(op.axis("axis", 0, rank)), op.input_count());
  if (type == "TopK") return alike(op, along(op.axis("axis", -1, rank)));
  if (type == "Trilu") return alike(op, [=](int i) { return i + 2 >= static_cast<int>(rank); });
  if (type == "Resize" || type == "Upsample")
    return same_extents(op, [](int axis) { return axis >= 2; });
  if (type != "Expand") return std::nullopt;
  AxisLetters result = start(op);
  const std::string out = letters(std::max(op.out().size(), rank));
  result.inputs[0] = out.substr(out.size() - rank);
  set_outputs(result, out);
  return result;
}

// The loss itself is a sum; its gradient is made element by element, or class vector by class
// vector.
AxisLetters loss(const OpReader& op) {
  if (op->type == "MeanSquaredLoss") return elementwise(op);
  AxisLetters result = start(op);
  const std::size_t rank = op.in(0).size();
  const int classes = op.axis("axis", 1, rank);
  result.inputs[0] = letters(rank, along(classes));
  std::string labels = result.inputs[0];
  std::erase(labels, kMixed);
  if (result.inputs.size() > 1 && result.inputs[1].size() == labels.size())
    result.inputs[1] = labels;
  for (std::string& output : result.outputs) {
    if (output.size() == rank && rank > 0) output = result.inputs[0];
    if (output.size() == labels.size()) output = labels;
  }
  return result;
}

Answer matmul(const OpReader& op) {
  if (op->type == "Gemm" || op->type == "FusedGemm") return contraction(op, gemm_letters(op));
  if (op->type == "Einsum") return contraction(op, einsum_letters(op));
  const bool plain =
      op->type == "MatMul" || op->type == "FusedMatMul" || op->type == "MatMulInteger";
  return plain ? Answer(contraction(op, matmul_letters(op))) : std::nullopt;
}

// Scales of quantised tensors may belong to an axis that only an attribute tells.
bool is_quantization(const OpReader& op) {
  return op->type.find("uantizeLinear") != std::string::npos;
}

Answer forward_letters(const OpReader& op) {
  const OpRule* rule = find_rule(op->type);
  if (!rule || rule->view) return std::nullopt;
  switch (rule->family) {
    case OpFamily::MatMul:
      return matmul(op);
    case OpFamily::Convolution:
      if (op->type == "QLinearConv") return std::nullopt;
      return convolution(op);
    case OpFamily::Pooling:
      if (op->type == "RoiAlign" || op->type == "MaxRoiPool") return std::nullopt;
      if (op.output_count() > 1) return std::nullopt;  // indices count across the channels
      return alike(op, [](int axis) { return axis >= 2; });
    case OpFamily::Normalization:
      return normalization(op);
    case OpFamily::Softmax:
      return alike(op, along(op.axis("axis", -1, op.in(0).size())));
    case OpFamily::Elementwise:
      if (is_quantization(op)) return std::nullopt;
      return elementwise(op);
    case OpFamily::Reduction:
      return reduction(op);
    case OpFamily::Embedding:
      return gather(op);
    case OpFamily::DataMovement:
      return movement(op);
    case OpFamily::Loss:
      return loss(op);
    case OpFamily::Update:
      return alike(op, nullptr, op.input_count());
    default:
      return std::nullopt;
  }
}

// The letters of a tensor that a gradient op reads: those that it has in the forward op. One that
// is not there is the gradient of an output: the first one of its shape that has none yet.
std::string letters_read(const OpReader& forward, const AxisLetters& of, TensorId tensor,
                         const Shape& shape, std::vector<bool>& taken) {
  for (std::size_t i = 0; i < of.inputs.size(); ++i)
    if (forward->inputs[i] == tensor) return of.inputs[i];
  for (std::size_t i = 0; i < of.outputs.size(); ++i)
    if (forward->outputs[i] == tensor) return of.outputs[i];
  for (std::size_t i = 0; i < of.outputs.size(); ++i) {
    if (taken[i] || forward.out(i) != shape) continue;
    taken[i] = true;
    return of.outputs[i];
  }
  return mixed(shape.size());
}

Answer gradient_letters(const OpReader& op) {
  if (!op->forward.valid()) return std::nullopt;
  const OpReader forward = op.forward();
  const Answer of = forward_letters(forward);
  if (!of) return std::nullopt;
  AxisLetters result;
  std::vector<bool> taken(of->outputs.size(), false);
  for (std::size_t i = 0; i < op.input_count(); ++i)
    result.inputs.push_back(letters_read(forward, *of, op->inputs[i], op.in(i), taken));
  const std::vector<std::int64_t> wrt = op->integers("wrt");
  if (wrt.size() != op.output_count()) return std::nullopt;
  for (const std::int64_t input : wrt) {
    if (input < 0 || input >= static_cast<std::int64_t>(of->inputs.size())) return std::nullopt;
    result.outputs.push_back(of->inputs[static_cast<std::size_t>(input)]);
  }
  return result;
}

}  // namespace

std::optional<AxisLetters> axis_letters(const OpReader& op) {
  for (std::size_t i = 0; i < op.input_count(); ++i)
    if (op.in(i).size() > kMostAxes) return std::nullopt;
  if (op->attribute("wrt")) return gradient_letters(op);
  return forward_letters(op);
}

}  // namespace strato
