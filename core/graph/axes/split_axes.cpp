#include "core/graph/axes/split_axes.h"

#include <algorithm>
#include <limits>

#include "core/graph/axes/axis_letters.h"

namespace strato {
namespace {

constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max() - 1;

bool is_batch(const Tensor& tensor, int axis) {
  return tensor.batch.kind == BatchKind::Batched && tensor.batch.axis == axis;
}

class AxisFinder {
 public:
  AxisFinder(const OpReader& op, const AxisLetters& letters) : op_(op), letters_(letters) {}

  // Axes are those of the tensor that the parts' results make up: an update's is its parameter.
  std::vector<SplitAxis> find() const {
    const bool update = op_->outputs.empty();
    const Tensor& whole = update ? op_.input(0) : op_.output(0);
    const std::string& axes = update ? letters_.inputs[0] : letters_.outputs[0];
    std::vector<SplitAxis> result;
    if (axes.size() != whole.shape.size() || whole.elements() == 0) return result;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      SplitAxis split{static_cast<int>(i), {}};
      if (axes[i] == AxisLetters::kMixed || is_batch(whole, split.axis)) continue;
      if (whole.shape[i] < 2 || whole.shape[i] > kLongest) continue;
      if (divides_outputs(axes[i], whole.shape[i]) &&
          divides_inputs(axes[i], whole.shape[i], split.inputs))
        result.push_back(std::move(split));
    }
    return result;
  }

 private:
  // Every output carries the letter, all along.
  bool divides_outputs(char letter, std::int64_t size) const {
    for (std::size_t i = 0; i < op_.output_count(); ++i) {
      const std::string& axes = letters_.outputs[i];
      const std::size_t at = axes.find(letter);
      if (at == std::string::npos || axes.size() != op_.out(i).size() || op_.out(i)[at] != size ||
          axes.find(letter, at + 1) != std::string::npos)
        return false;
    }
    return true;
  }

  // An input that lacks the letter, or is stretched along it, is needed as a whole.
  bool divides_inputs(char letter, std::int64_t size, std::vector<int>& inputs) const {
    for (std::size_t i = 0; i < op_.input_count(); ++i) {
      inputs.push_back(-1);
      if (!op_.has_input(i)) continue;
      const std::string& axes = letters_.inputs[i];
      const std::size_t at = axes.find(letter);
      if (axes.size() != op_.in(i).size()) return false;
      if (at == std::string::npos || op_.in(i)[at] == 1) continue;
      if (op_.in(i)[at] != size || axes.find(letter, at + 1) != std::string::npos ||
          is_batch(op_.input(i), static_cast<int>(at)))
        return false;
      inputs.back() = static_cast<int>(at);
    }
    return true;
  }

  const OpReader& op_;
  const AxisLetters& letters_;
};

}  // namespace

std::vector<SplitAxis> split_axes(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  const OpReader reader(op, graph.ops(), graph.tensors());
  if (op.view || op.estimated || op.inputs.empty() || !op.inputs[0].valid()) return {};
  const auto letters = axis_letters(reader);
  return letters ? AxisFinder(reader, *letters).find() : std::vector<SplitAxis>();
}

int split_output_axis(const Graph& graph, OpId id, std::size_t output, int axis) {
  const OpReader reader(graph.op(id), graph.ops(), graph.tensors());
  const auto letters = axis_letters(reader);
  const auto first = static_cast<std::size_t>(axis);
  if (!letters || output >= letters->outputs.size() || letters->outputs[0].size() <= first)
    return -1;
  const std::size_t at = letters->outputs[output].find(letters->outputs[0][first]);
  return at == std::string::npos ? -1 : static_cast<int>(at);
}

}  // namespace strato
