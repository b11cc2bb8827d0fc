#include "core/graph/axes/split_axes.h"

#include "core/graph/ops/catalogue.h"

namespace strato {
namespace {

// Every output carries the letter, all along.
bool divides_outputs(const OpReader& op, const AxisLetters& letters, char letter,
                     std::int64_t size) {
  for (std::size_t i = 0; i < op.output_count(); ++i) {
    const std::string& axes = letters.outputs[i];
    const std::size_t at = axes.find(letter);
    if (at == std::string::npos || axes.size() != op.out(i).size() || op.out(i)[at] != size ||
        axes.find(letter, at + 1) != std::string::npos)
      return false;
  }
  return true;
}

// An input that lacks the letter, or is stretched along it, is needed as a whole.
bool divides_inputs(const OpReader& op, const AxisLetters& letters, char letter, std::int64_t size,
                    std::vector<int>& inputs) {
  for (std::size_t i = 0; i < op.input_count(); ++i) {
    inputs.push_back(-1);
    if (!op.has_input(i)) continue;
    const std::string& axes = letters.inputs[i];
    const std::size_t at = axes.find(letter);
    if (axes.size() != op.in(i).size()) return false;
    if (at == std::string::npos || op.in(i)[at] == 1) continue;
    if (op.in(i)[at] != size || axes.find(letter, at + 1) != std::string::npos ||
        is_batch_axis(op.input(i), static_cast<int>(at)))
      return false;
    inputs.back() = static_cast<int>(at);
  }
  return true;
}

// ---- letters

std::optional<AxisLetters> forward_letters(const OpReader& op) {
  const OpRule* rule = find_rule(op->type);
  if (!rule || !rule->axes) return std::nullopt;
  auto letters = rule->axes(op);
  if (!letters) return std::nullopt;
  letters->outputs.resize(op.output_count());
  for (std::size_t i = 0; i < op.output_count(); ++i)  // shapes come from files
    if (letters->outputs[i].size() != op.out(i).size())
      letters->outputs[i].assign(op.out(i).size(), AxisLetters::kMixed);
  return letters;
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
  return std::string(shape.size(), AxisLetters::kMixed);
}

// A product of a matrix with itself: in which place its gradient op reads it is not known.
bool reads_twice(const OpReader& forward, const AxisLetters& of) {
  const std::vector<TensorId>& inputs = forward->inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (inputs[i].valid() && inputs[i] == inputs[j] && of.inputs[i] != of.inputs[j]) return true;
  return false;
}

std::optional<AxisLetters> gradient_letters(const OpReader& op) {
  if (!op->forward.valid()) return std::nullopt;
  const OpReader forward = op.forward();
  const std::optional<AxisLetters> of = forward_letters(forward);
  if (!of || reads_twice(forward, *of)) return std::nullopt;
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

bool is_batch_axis(const Tensor& tensor, int axis) {
  return tensor.batch.kind == BatchKind::Batched && tensor.batch.axis == axis;
}

std::optional<AxisLetters> axis_letters(const OpReader& op) {
  for (std::size_t i = 0; i < op.input_count(); ++i)
    if (op.in(i).size() > AxisLetters::kMostAxes) return std::nullopt;
  if (op->attribute("wrt")) return gradient_letters(op);
  return forward_letters(op);
}

std::vector<SplitAxis> split_axes(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  const OpReader reader(graph, op);
  std::vector<SplitAxis> result;
  if (op.view || op.estimated || op.inputs.empty() || !op.inputs[0].valid()) return result;
  const auto letters = axis_letters(reader);
  if (!letters) return result;
  // Axes are those of the tensor that the parts' results make up: an update's is its parameter.
  const bool update = op.outputs.empty();
  const Tensor& whole = update ? reader.input(0) : reader.output(0);
  const std::string& axes = update ? letters->inputs[0] : letters->outputs[0];
  if (axes.size() != whole.shape.size() || whole.elements() == 0) return result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    SplitAxis split{static_cast<int>(i), {}};
    const std::int64_t size = whole.shape[i];
    if (axes[i] != AxisLetters::kMixed && !is_batch_axis(whole, split.axis) && size >= 2 &&
        size <= kLongestSplit && divides_outputs(reader, *letters, axes[i], size) &&
        divides_inputs(reader, *letters, axes[i], size, split.inputs))
      result.push_back(std::move(split));
  }
  return result;
}

int split_output_axis(const Graph& graph, OpId id, std::size_t output, int axis) {
  const OpReader reader(graph, graph.op(id));
  const auto letters = axis_letters(reader);
  const auto first = static_cast<std::size_t>(axis);
  if (!letters || output >= letters->outputs.size() || letters->outputs[0].size() <= first)
    return -1;
  const std::size_t at = letters->outputs[output].find(letters->outputs[0][first]);
  return at == std::string::npos ? -1 : static_cast<int>(at);
}

}  // namespace strato
