// The gradient rules that the catalogue's tables are made of. A gradient op lists exactly the
// tensors that a real framework's kernel reads, because activation memory follows from that;
// kernels that run separately (weight, input and bias gradient of a convolution) are separate ops.
//
// A gradient op's inputs are first the gradients of forward outputs, then saved tensors; attribute
// "wrt" holds, for each of its outputs, the forward input that it is the gradient of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/rules/op_rule.h"

namespace strato {

struct Saved {  // a tensor of the forward op that the gradient reads
  bool output;
  std::size_t index;
};
constexpr Saved x(std::size_t i) { return {false, i}; }
constexpr Saved y(std::size_t i) { return {true, i}; }

struct GradientPart {
  std::string_view type;  // appended to the forward op's type
  std::string_view name;  // appended to the forward op's name
  std::size_t input;      // the forward input that it is the gradient of
  std::vector<Saved> reads;
  bool passes = false;  // it is the output's gradient itself when their shapes agree
};

// A rule writes gradients with this, given one forward op whose output gradients are known.
class GradientWriter {
 public:
  virtual ~GradientWriter() = default;
  virtual const OpReader& forward() const = 0;
  virtual bool wants(std::size_t input) const = 0;  // is input's gradient needed
  // One gradient op, with an output for each of `inputs`.
  virtual void add(std::string_view type, std::string_view name, const std::vector<Saved>& reads,
                   const std::vector<std::size_t>& inputs) = 0;
  // The (first) output's gradient is input's gradient too.
  virtual void pass(std::size_t input) = 0;
  // Gives the forward op one more output, kept for its gradient (a dropout's mask): its index.
  virtual std::size_t save_output(std::string_view name, DataType type, Shape shape) = 0;
};

// One op, "<Type>Grad", for all wanted inputs.
GradientRule gradient(std::vector<Saved> reads = {});
// One op per wanted input.
GradientRule gradients(std::vector<GradientPart> parts);
// a (op) b: "GradA" and "GradB"; an operand that was broadcast has its gradient summed.
GradientRule operand_gradients(std::vector<Saved> a, std::vector<Saved> b);
// The output's gradient serves every input; summed for one that was broadcast.
void passed_gradient(GradientWriter& writer);

}  // namespace strato
