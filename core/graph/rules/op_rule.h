// The op catalogue knows an op type by an OpRule, in a row of a family's table. A rule is a value
// made of pure functions; this header has the types of these functions and those that many families
// share. Thread-safe, no state.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/rules/axis_letters.h"

namespace strato {

class BatchFlow;
class GradientWriter;

struct TensorType {
  DataType type = DataType::F32;
  Shape shape;
};
using TensorTypes = std::vector<TensorType>;
using BatchAnswer = std::optional<BatchLayout>;

// Outputs' types from the inputs'; empty when they cannot be told.
using ShapeRule = std::function<TensorTypes(const OpReader&)>;
using FlopsRule = std::function<double(const OpReader&)>;
using KernelRule = std::function<int(const OpReader&)>;
// The first output's layout, given that some input is Batched and none is Partial; nothing: not
// splittable.
using BatchRule = std::function<BatchAnswer(BatchFlow&)>;
using GradientRule = std::function<void(GradientWriter&)>;

// An op may pass sums over the batch (Partial) through.
enum class Linearity : std::uint8_t {
  None,   // needs the full sum
  Joint,  // linear when all its floating-point inputs are Partial (a + b)
  First,  // linear in its first input alone (a / b)
  Each,   // linear in any one input (a * b)
};

using InputSet = std::uint32_t;  // bit i: input i
constexpr InputSet inputs(std::initializer_list<int> indices) {
  InputSet set = 0;
  for (const int i : indices) set |= InputSet{1} << i;
  return set;
}
constexpr InputSet all_inputs = ~InputSet{0};
constexpr bool contains(InputSet set, std::size_t i) { return (set >> (i < 31 ? i : 31)) & 1; }

struct OpRule {
  OpFamily family = OpFamily::Other;
  std::size_t min_inputs = 1;
  InputSet left_out = 0;  // of these, inputs that may be missing in front of others
  ShapeRule shape = {};   // null: one output like the first input
  AxesRule axes = {};     // null: not known, or never worth a split
  FlopsRule flops = {};   // null: none
  BatchRule batch = {};   // null: never splittable
  Linearity linear = Linearity::None;
  GradientRule gradient = {};             // null: not differentiable
  InputSet differentiable = inputs({0});  // inputs that `gradient` can serve
  double gradient_work = 1;               // FLOPs of one gradient op over the forward op's
  InputSet lookups = 0;     // inputs of which only as much as the output holds is read
  InputSet unread = 0;      // inputs whose elements are not read at all
  KernelRule kernels = {};  // null: one
  bool view = false;
  bool side_outputs = false;  // outputs past the first are by-products (masks, statistics)
};

// The table of a family: op types with the rule that they have in common.
struct OpTypes {
  std::vector<std::string_view> types;
  OpRule rule;
};
using OpRules = std::vector<OpTypes>;

// Counts so many FLOPs per element of the (first) output, or of the first input.
inline FlopsRule per_element(double flops) {
  return [flops](const OpReader& op) { return flops * op.elements(); };
}
inline FlopsRule per_input_element(double flops) {
  return [flops](const OpReader& op) { return flops * product(op.in(0)); };
}

// ---- shape rules. They serve where ONNX shape inference has no answer, and graphs that are built
// by hand.

// One output of this shape, with the first input's type.
TensorTypes typed_like_first(const OpReader& op, Shape shape);

TensorTypes shape_broadcast(const OpReader& op);
TensorTypes shape_by(const std::optional<AxisLetters>& letters, const OpReader& op);
TensorTypes shape_convolution(const OpReader& op, std::size_t filter);  // which input it is
TensorTypes shape_transposed_convolution(const OpReader& op);
TensorTypes shape_pool(const OpReader& op);
TensorTypes shape_global_pool(const OpReader& op);

// These compute extents from attributes that files give: -1, which is no extent, where 64 bits do
// not hold them.
std::int64_t added(std::int64_t a, std::int64_t b);
std::int64_t multiplied(std::int64_t a, std::int64_t b);

// ---- batch rules: how the axis that carries the samples goes through an op (BatchLayout).

// One op as the batch-axis analysis meets it.
class BatchFlow {
 public:
  struct Demand {  // `tensor` is Whole, but its slices along the layout's axis meet the samples'
    TensorId tensor;
    BatchLayout layout;
  };

  BatchFlow(OpReader op, std::int64_t batch);

  // The axis along which input i carries the batch, or -1.
  int axis(std::size_t i) const;
  // The batch on another axis, as the first Batched input has it otherwise.
  BatchLayout on(int axis) const { return {BatchKind::Batched, axis, blocks_}; }
  BatchAnswer on_if(bool follows, int axis) const {
    return follows ? BatchAnswer(on(axis)) : std::nullopt;
  }
  // Input i, when it holds anything but 1 along `axis`, must carry the batch there. When it does
  // not: notes the demand (the analysis may be able to meet it) and answers false.
  bool requires_batch(std::size_t i, int axis);
  // A layout for an output other than the first, which follows the first by default.
  void set(std::size_t output, BatchLayout layout) { others.emplace_back(output, layout); }

  OpReader op;
  std::int64_t batch;
  std::vector<Demand> demands;
  std::vector<std::pair<std::size_t, BatchLayout>> others;

 private:
  std::int64_t blocks_ = 1;
};

inline BatchLayout partial() { return {BatchKind::Partial, -1}; }

// The first input's axis stays where it is, unless the op mixes along it; other inputs are Whole.
BatchRule batch_kept(MixesAxis mixes = nullptr);
bool mixes_all_but_first(const OpReader& op, int axis);  // samples on axis 0, as in convolutions
bool mixes_last_two(const OpReader& op, int axis);
MixesAxis mixes_along(std::int64_t fallback);  // the axis of attribute "axis"

// Samples first in the first input, in those that `always` carry them, and in those that carry any
// of `perhaps`; also in the outputs that have as many. Other inputs are Whole.
BatchRule samples_first(InputSet always, InputSet perhaps = 0);

// By the letters of the axes: an input that has the batch's carries the batch; where the output
// lacks it, that is a sum.
BatchRule batch_by(AxesRule axes);

// Ops whose outputs follow from the letters of the axes, batch and all.
OpRule lettered(OpRule rule, const AxesRule& axes);
// The same op of quantised numbers: it is not differentiable, splits along the batch only, and
// passes no sums over it.
OpRule quantized(OpRule rule);
// Ops whose output is like the first input, unless they mix along an axis: kept_axes(),
// batch_kept().
OpRule keeping_axes(OpRule rule, const MixesAxis& mixes);

// The axes that a reduction is over (attribute or second input; none: all of them; ArgMax and
// ArgMin: one): ascending, in range.
std::vector<int> reduced_axes(const OpReader& op);

// ---- gradient rules. A gradient op lists exactly the tensors that a real framework's kernel
// reads, because activation memory follows from that; kernels that run separately (weight, input
// and bias gradient of a convolution) are separate ops. Its inputs are first the gradients of
// forward outputs, then saved tensors; attribute "wrt" holds, for each of its outputs, the forward
// input that it is the gradient of.

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
  virtual bool wants(std::size_t input) const = 0;                     // is input's gradient needed
  std::vector<std::size_t> wanted(std::size_t most = SIZE_MAX) const;  // of the first `most` inputs
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
