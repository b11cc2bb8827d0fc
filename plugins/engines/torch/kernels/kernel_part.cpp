// Kernels of parts of ops.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/program/value/op_parts.h"
#include "plugins/engines/torch/kernels/kernel.h"

namespace strato::torch_engine {
namespace {

[[noreturn]] void refuse_split(const Op& op, int axis) {
  throw InputError("", fmt::format("op \"{}\" ({})", op.name, op.type),
                   fmt::format("cannot be split along axis {}", axis),
                   "plan without splits of this op");
}

SplitAxis split_along(const Graph& graph, OpId op, int axis) {
  for (SplitAxis& split : split_axes(graph, op)) {
    if (split.axis == axis) return std::move(split);
  }
  refuse_split(graph.op(op), axis);
}

const Tensor& divided(const Graph& graph, const Op& op) {
  return graph.tensor(op.outputs.empty() ? op.inputs[0] : op.outputs[0]);
}

// The op and its forward op with tensors of their own for each place, so that a tensor that is read
// twice may be cut in two ways.
class PartTables {
 public:
  PartTables(const Graph& graph, OpId id, const Part& part)
      : graph_(graph), letters_(letters_of(graph, id, part)) {
    const Op& op = graph.op(id);
    if (letters_.empty()) refuse_split(op, part.first().axis);
    for (const AxisRange& range : part.cuts())
      parts_.push_back({range, divided(graph, op).shape[static_cast<std::size_t>(range.axis)]});
    if (part.sums_letter()) parts_.push_back({part.addend(), letters_.back().split.extent});
    add_forward(op);
    Axes axes;
    for (const OpLetter& letter : letters_) {
      axes.inputs.push_back(letter.split.inputs);
      axes.outputs.push_back(letter.split.outputs);
    }
    ops_.push_back(with_tensors(op, axes));
    if (op.forward.valid()) ops_[OpId(1)].forward = OpId(0);
  }

  Kernel kernel() const {
    return make_kernel(Site(graph_, OpReader(ops_[OpId(1)], ops_, tensors_), parts_));
  }

 private:
  // Where the letters stand: by letter, and by input or output.
  struct Axes {
    std::vector<std::vector<int>> inputs, outputs;
  };

  // Returns the axes at which the letter stands; -1: nowhere.
  static std::vector<int> axes_of(const std::vector<std::string>& letters, char letter) {
    std::vector<int> axes;
    for (const std::string& each : letters) {
      const std::size_t at = each.find(letter);
      axes.push_back(at == std::string::npos ? -1 : static_cast<int>(at));
    }
    return axes;
  }

  // The forward op of a gradient keeps the whole extent that it sums over (a mean, a loss, also one
  // that keeps its probabilities); but a convolution's gradient has the weight's shape.
  void add_forward(const Op& op) {
    const Op& forward = op.forward.valid() ? graph_.op(op.forward) : op;
    const auto letters = axis_letters(Site(graph_, forward));
    Axes axes;
    for (const OpLetter& each : letters_) {
      axes.inputs.emplace_back(forward.inputs.size(), -1);
      axes.outputs.emplace_back(forward.outputs.size(), -1);
      if (!letters || op.attribute("wrt") == nullptr) continue;
      const std::vector<int> made = axes_of(letters->outputs, each.split.letter);
      const bool stays = std::ranges::all_of(made, [](int axis) { return axis >= 0; });
      if (!stays && forward.family != OpFamily::Convolution) continue;
      axes.inputs.back() = axes_of(letters->inputs, each.split.letter);
      axes.outputs.back() = made;
    }
    ops_.push_back(with_tensors(forward, axes));
  }

  Op with_tensors(Op op, const Axes& axes) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i].valid()) op.inputs[i] = add(op.inputs[i], axes.inputs, i);
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      op.outputs[i] = add(op.outputs[i], axes.outputs, i);
    }
    for (auto& [name, value] : op.attributes) {  // only groups of one channel are split
      if (name == "group" && op.integer("group", 1) > 1) value = letters_.front().range.size();
    }
    return op;
  }

  // The part has its share of the axes; an input that is stretched along one stays as it is.
  TensorId add(TensorId id, std::span<const std::vector<int>> axes, std::size_t place) {
    Tensor tensor = graph_.tensor(id);
    for (std::size_t i = 0; i < letters_.size(); ++i) {
      const int axis = axes[i][place];
      const std::int64_t extent = letters_[i].split.extent;
      if (axis < 0 || axis >= kSumOver) continue;
      std::int64_t& all = tensor.shape[static_cast<std::size_t>(axis)];
      if (all % extent != 0) continue;
      all = all / extent * letters_[i].range.size();
      tensor.data = nullptr;
    }
    const TensorId copy = tensors_.next_id();
    tensors_.push_back(std::move(tensor));
    return copy;
  }

  const Graph& graph_;
  const std::vector<OpLetter> letters_;
  std::vector<AxisPart> parts_;  // as letters_
  IdVector<OpId, Op> ops_;
  IdVector<TensorId, Tensor> tensors_;
};

}  // namespace

// Inputs of what is cut along several axes are cut alike along the others.
std::vector<Part> part_inputs(const Graph& graph, OpId op, const Part& part) {
  std::vector<Part> parts;
  AxisRange range = part.first();
  const Part others = part.without(range.axis);
  for (const int axis : split_along(graph, op, range.axis).inputs) {
    range.axis = static_cast<std::int8_t>(axis);
    parts.push_back(axis < 0 ? Part() : others.cut(range));
  }
  return parts;
}

// What is cut along several axes and not along letters are updates, and they go by what they are
// given, whatever its shape.
Kernel make_part_kernel(const Graph& graph, OpId op, const Part& part) {
  const bool by_letters = !letters_of(graph, op, part).empty();
  return PartTables(graph, op, by_letters ? part : Part().cut(part.first())).kernel();
}

}  // namespace strato::torch_engine
