// Computes what the builder adds to ops that are in topological order: family, work, view,
// estimated (from the catalogue), and batch layouts and splittability (from the batch-axis
// analysis).
//
// The analysis follows the axis that carries the samples from the inputs through every op
// (TAG 4.1.1 asks for splittability; a dataflow analysis answers it without a table of names).
// Forward ops follow the catalogue's batch rules. Gradient ops follow one rule for all: the
// gradient of a tensor that carries the batch carries it too; of one that does not, while the op's
// result does, it is a sum over the batch; gradient ops are linear in the output's gradient, so
// sums pass through.
#include <algorithm>
#include <set>

#include "core/graph/build/batch_demands.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/ops/catalogue.h"

namespace strato {
namespace {

using Ops = IdVector<OpId, Op>;
using Tensors = IdVector<TensorId, Tensor>;

constexpr BatchLayout whole;

// The batch-axis analysis.
class Analysis {
 public:
  Analysis(Ops& ops, Tensors& tensors, std::int64_t batch)
      : ops_(ops),
        tensors_(tensors),
        batch_(batch),
        demanded_(tensors.size()),
        sources_(ops, tensors, batch) {}

  // Demands are met on the way; tensors that they change may have earlier readers, which the next
  // round sees.
  void run() {
    mark_inputs();
    constexpr int max_rounds = 16;
    changed_ = true;
    for (int round = 0; round < max_rounds && changed_; ++round) {
      changed_ = false;
      sources_.forget();
      for (Op& op : ops_) settle(op);
    }
  }

 private:
  void mark_inputs() {
    for (Tensor& tensor : tensors_) {
      if (tensor.role != TensorRole::Input || tensor.batch.kind == BatchKind::Batched) continue;
      const bool first = !tensor.shape.empty() && tensor.shape[0] == batch_;
      tensor.batch = first ? BatchLayout{BatchKind::Batched, 0} : whole;
    }
  }

  // Follows an op until what it demands is met, or cannot be.
  void settle(Op& op) {
    constexpr int max_demands = 8;  // one for each operand, at most
    for (int i = 0; i < max_demands; ++i) {
      demands_.clear();
      follow(op);
      const std::vector<BatchFlow::Demand> demands = demands_;
      bool met = false;
      for (const BatchFlow::Demand& demand : demands) met = meet(demand) || met;
      if (!met) return;
      changed_ = true;
    }
  }

  void follow(Op& op) {
    op.split = Splittability::None;
    for (const TensorId output : op.outputs) tensors_[output].batch = whole;
    if (op.phase == Phase::Update || op.outputs.empty()) return;
    if (op.attribute("wrt"))
      follow_gradient(op);
    else
      follow_forward(op);
    const BatchKind kind = tensors_[op.outputs[0]].batch.kind;
    if (kind == BatchKind::Batched) op.split = Splittability::Concat;
    if (kind == BatchKind::Partial) op.split = Splittability::Sum;
  }

  bool any_input(const Op& op, BatchKind kind) const {
    return std::ranges::any_of(
        op.inputs, [&](TensorId id) { return id.valid() && tensors_[id].batch.kind == kind; });
  }

  void follow_forward(Op& op) {
    const OpRule& rule = rule_of(op.type);
    if (any_input(op, BatchKind::Partial)) {
      if (passes_sum(op, rule.linear)) set_outputs(op, partial());
      return;
    }
    if (!any_input(op, BatchKind::Batched)) {
      set_outputs(op, demanded_[op.outputs[0].index()]);
      return;
    }
    if (!rule.batch) return;
    BatchFlow flow(OpReader(op, ops_, tensors_), batch_);
    const BatchAnswer answer = rule.batch(flow);
    demands_.insert(demands_.end(), flow.demands.begin(), flow.demands.end());
    if (!answer || !can_carry(op.outputs[0], *answer)) return;
    set_outputs(op, *answer);
    for (const auto& [output, layout] : flow.others) {
      if (output >= op.outputs.size()) continue;
      const TensorId id = op.outputs[output];
      tensors_[id].batch = can_carry(id, layout) ? layout : whole;
    }
  }

  // Shapes come from files: a result may lack the axis that its op's rule tells.
  bool can_carry(TensorId id, BatchLayout layout) const {
    if (layout.kind != BatchKind::Batched) return true;
    const Shape& shape = tensors_[id].shape;
    return layout.axis >= 0 && layout.axis < static_cast<int>(shape.size()) &&
           extent(shape, layout.axis) % (layout.blocks * batch_) == 0;
  }

  // All outputs like the first, where they have the axis that it has.
  void set_outputs(Op& op, BatchLayout layout) {
    const Shape& first = tensors_[op.outputs[0]].shape;
    for (const TensorId id : op.outputs) {
      Tensor& tensor = tensors_[id];
      const bool has_axis = layout.kind != BatchKind::Batched ||
                            (tensor.shape.size() == first.size() &&
                             extent(tensor.shape, layout.axis) == extent(first, layout.axis));
      tensor.batch = has_axis ? layout : whole;
    }
  }

  bool passes_sum(const Op& op, Linearity linear) const {
    std::size_t partials = 0, batched = 0, floats = 0;
    for (const TensorId id : op.inputs) {
      if (!id.valid()) continue;
      partials += tensors_[id].batch.kind == BatchKind::Partial;
      batched += tensors_[id].batch.kind == BatchKind::Batched;
      floats += is_floating(tensors_[id].type);
    }
    if (batched > 0 || !is_floating(tensors_[op.outputs[0]].type)) return false;
    if (linear == Linearity::None) return false;
    if (linear == Linearity::Joint) return partials == floats;
    const bool in_first = tensors_[op.inputs[0]].batch.kind == BatchKind::Partial;
    return partials == 1 && (linear == Linearity::Each || in_first);
  }

  void follow_gradient(Op& op) {
    if (!op.forward.valid()) return;
    const Op& forward = ops_[op.forward];
    const std::vector<std::int64_t> wrt = op.integers("wrt");
    const BatchLayout result = forward.outputs.empty() ? whole : tensors_[forward.outputs[0]].batch;
    for (std::size_t i = 0; i < op.outputs.size() && i < wrt.size(); ++i) {
      const auto input = static_cast<std::size_t>(wrt[i]);
      if (input >= forward.inputs.size() || !forward.inputs[input].valid()) continue;
      const BatchLayout source = tensors_[forward.inputs[input]].batch;
      tensors_[op.outputs[i]].batch = gradient_layout(source, result, gradient_kind(op));
    }
  }

  // Tells how the gradients that a gradient op reads follow the batch: Whole when it starts from
  // the loss, nothing when they differ.
  std::optional<BatchKind> gradient_kind(const Op& op) const {
    std::optional<BatchKind> kind;
    for (const TensorId id : op.inputs) {
      if (!id.valid() || tensors_[id].role != TensorRole::Gradient) continue;
      if (kind && *kind != tensors_[id].batch.kind) return std::nullopt;
      kind = tensors_[id].batch.kind;
    }
    return kind.value_or(BatchKind::Whole);
  }

  static BatchLayout gradient_layout(BatchLayout source, BatchLayout result,
                                     std::optional<BatchKind> gradient) {
    const bool source_batched = source.kind == BatchKind::Batched;
    if (result.kind == BatchKind::Batched && gradient == BatchKind::Batched)
      return source_batched ? source : partial();
    if (result.kind == BatchKind::Partial && gradient == BatchKind::Whole && source_batched)
      return source;
    const bool free = result.kind == BatchKind::Whole && source.kind == BatchKind::Whole;
    return free && gradient == BatchKind::Partial ? partial() : whole;
  }

  // A Whole tensor is to carry the batch, and with it what it is made of.
  bool meet(const BatchFlow::Demand& demand) {
    if (demanded_[demand.tensor.index()] != whole) return false;
    const auto layouts = sources_.met(demand);
    if (!layouts) return false;
    std::set<OpId> makers;  // in the order in which they are computed
    for (const auto& [tensor, layout] : *layouts) {
      demanded_[tensor.index()] = layout;
      if (can_be_cut(tensors_[tensor]))
        tensors_[tensor].batch = layout;
      else
        makers.insert(tensors_[tensor].producer);
    }
    for (const OpId maker : makers) follow(ops_[maker]);
    return true;
  }

  Ops& ops_;
  Tensors& tensors_;
  std::int64_t batch_;
  std::vector<BatchLayout> demanded_;  // by tensor: as consumers ask for it, or Whole
  BatchDemands sources_;
  std::vector<BatchFlow::Demand> demands_;  // of the op that is followed
  bool changed_ = false;
};

}  // namespace

void GraphBuilder::annotate() {
  Analysis(ops_, tensors_, batch_).run();
  for (Op& op : ops_) {
    if (op.phase == Phase::Forward && rule_of(op.type).family == OpFamily::Loss)
      op.phase = Phase::Loss;
    describe(op, ops_, tensors_, file_);
  }
}

}  // namespace strato
