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
  PartTables(const Graph& graph, OpId id, const Part& part) : graph_(graph) {
    const Op& op = graph.op(id);
    const auto letter = letter_of(graph, id, part);
    if (!letter) refuse_split(op, part.first().axis);
    letter_ = letter->split.letter;
    size_ = letter->range.size();
    extent_ = letter->split.extent;
    if (part.sums_letter()) {
      axis_ = {part.addend(), extent_};
    } else {
      const AxisRange& range = part.cuts()[0];
      axis_ = {range, divided(graph, op).shape[static_cast<std::size_t>(range.axis)]};
    }
    add_forward(op);
    ops_.push_back(with_tensors(op, letter->split.inputs, letter->split.outputs));
    if (op.forward.valid()) ops_[OpId(1)].forward = OpId(0);
  }

  Kernel kernel() const {
    return make_kernel(Site(graph_, OpReader(ops_[OpId(1)], ops_, tensors_), axis_));
  }

 private:
  // Returns the axes at which the letter stands; -1: nowhere.
  std::vector<int> axes_of(const std::vector<std::string>& letters) const {
    std::vector<int> axes;
    for (const std::string& each : letters) {
      const std::size_t at = each.find(letter_);
      axes.push_back(at == std::string::npos ? -1 : static_cast<int>(at));
    }
    return axes;
  }

  // The forward op of a gradient keeps the whole extent that it sums over (a mean, a loss, also one
  // that keeps its probabilities); but a convolution's gradient has the weight's shape.
  void add_forward(const Op& op) {
    const Op& forward = op.forward.valid() ? graph_.op(op.forward) : op;
    const auto letters = axis_letters(Site(graph_, forward));
    std::vector<int> inputs(forward.inputs.size(), -1), outputs(forward.outputs.size(), -1);
    if (letters && op.attribute("wrt") != nullptr) {
      const std::vector<int> axes = axes_of(letters->outputs);
      const bool stays = std::ranges::all_of(axes, [](int axis) { return axis >= 0; });
      if (stays || forward.family == OpFamily::Convolution) {
        inputs = axes_of(letters->inputs);
        outputs = axes;
      }
    }
    ops_.push_back(with_tensors(forward, inputs, outputs));
  }

  Op with_tensors(Op op, const std::vector<int>& inputs, const std::vector<int>& outputs) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i].valid()) op.inputs[i] = add(op.inputs[i], inputs[i]);
    }
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      op.outputs[i] = add(op.outputs[i], outputs[i]);
    }
    for (auto& [name, value] : op.attributes) {  // only groups of one channel are split
      if (name == "group" && op.integer("group", 1) > 1) value = size_;
    }
    return op;
  }

  // The part has its share of the axis; an input that is stretched along it stays as it is.
  TensorId add(TensorId id, int axis) {
    Tensor tensor = graph_.tensor(id);
    if (axis >= 0 && axis < kSumOver &&
        tensor.shape[static_cast<std::size_t>(axis)] % extent_ == 0) {
      std::int64_t& all = tensor.shape[static_cast<std::size_t>(axis)];
      all = all / extent_ * size_;
      tensor.data = nullptr;
    }
    const TensorId copy = tensors_.next_id();
    tensors_.push_back(std::move(tensor));
    return copy;
  }

  const Graph& graph_;
  AxisPart axis_;
  std::int64_t size_ = 0, extent_ = 0;  // of the letter: the part's, and of all parts
  char letter_ = AxisLetters::kMixed;
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

// Just updates are cut along several axes, and they go by what they are given, whatever its shape.
Kernel make_part_kernel(const Graph& graph, OpId op, const Part& part) {
  const bool several = part.cuts().size() > 1;
  return PartTables(graph, op, several ? Part().cut(part.first()) : part).kernel();
}

}  // namespace strato::torch_engine
