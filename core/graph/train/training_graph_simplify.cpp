#include <algorithm>
#include <ranges>

#include "core/graph/build/copy_graph.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/train/training_graph.h"

namespace strato {
namespace {

// Ops whose output is their first input, as far as the graph's purpose goes.
bool is_pass_through(const Op& op, bool inference) {
  if (op.inputs.empty() || !op.inputs[0].valid() || op.outputs.empty()) return false;
  if (op.type == "Identity" || op.type == "NoOp") return true;
  return op.type == "Dropout" && (inference || op.real("ratio", 0.5) == 0);
}

class Simplifier {
 public:
  Simplifier(const Graph& graph, bool inference)
      : graph_(graph), inference_(inference), stands_for_(graph.tensor_count()) {}

  Graph run() {
    bypass();
    mark_needed();
    return keeps_all() ? graph_ : rebuilt();
  }

 private:
  // stands_for_[t]: the tensor that readers of t read instead.
  void bypass() {
    for (const TensorId id : stands_for_.ids()) stands_for_[id] = id;
    for (const Op& op : graph_.ops()) {
      const auto is_read_mask = [&](TensorId id) {
        return id != op.outputs.front() && !graph_.consumers(id).empty();
      };
      const bool mask_read = std::ranges::any_of(op.outputs, is_read_mask);
      if (!is_pass_through(op, inference_) || mask_read) continue;
      stands_for_[op.outputs[0]] = stands_for_[op.inputs[0]];
    }
  }

  void keep(TensorId id) {
    if (id.valid()) kept_[stands_for_[id].index()] = true;
  }

  // Backwards from results and updates: ops are in topological order.
  void mark_needed() {
    kept_.assign(graph_.tensor_count(), false);
    for (const TensorId id : results_of(graph_)) keep(id);
    needed_.assign(graph_.op_count(), false);
    for (std::size_t i = graph_.op_count(); i-- > 0;) {
      const Op& op = graph_.op(OpId(i));
      const bool bypassed = !op.outputs.empty() && stands_for_[op.outputs[0]] != op.outputs[0];
      const bool read =
          std::ranges::any_of(op.outputs, [&](TensorId id) { return kept_[id.index()]; });
      needed_[i] = op.phase == Phase::Update || (read && !bypassed);
      if (!needed_[i]) continue;
      for (const TensorId id : op.inputs) keep(id);
    }
  }

  // Then what is rebuilt is the graph itself: all is needed, and tensors are in the order in which
  // ops touch them.
  bool keeps_all() const {
    std::size_t next = 0;
    const auto is_next = [&](TensorId id) {
      if (!id.valid()) return true;
      next += id.index() == next;
      return id.index() < next && stands_for_[id] == id;
    };
    for (const OpId id : graph_.ops().ids()) {
      const Op& op = graph_.op(id);
      if (!needed_[id.index()] || !std::ranges::all_of(op.inputs, is_next) ||
          !std::ranges::all_of(op.outputs, is_next) ||
          (op.outputs.size() > 1 && !kept_[op.outputs.back().index()]))
        return false;
    }
    return next == graph_.tensor_count();
  }

  // Tensors that no kept op touches are left out, and trailing outputs that nothing reads.
  Graph rebuilt() {
    GraphBuilder builder(graph_.name(), graph_.batch());
    IdVector<TensorId, TensorId> new_tensor(graph_.tensor_count());
    IdVector<OpId, OpId> new_op(graph_.op_count());
    const auto moved = [&](TensorId old) {
      if (!old.valid() || new_tensor[old].valid()) return old.valid() ? new_tensor[old] : old;
      return new_tensor[old] = builder.add_tensor(graph_.tensor(old));
    };
    for (const OpId old : graph_.ops().ids()) {
      if (!needed_[old.index()]) continue;
      Op op = graph_.op(old);
      while (op.outputs.size() > 1 && !kept_[op.outputs.back().index()]) op.outputs.pop_back();
      for (TensorId& id : op.inputs) id = moved(id.valid() ? stands_for_[id] : id);
      for (TensorId& id : op.outputs) id = moved(id);
      if (op.forward.valid()) op.forward = new_op[op.forward];
      new_op[old] = builder.add_op(std::move(op));
    }
    return std::move(builder).build();
  }

  const Graph& graph_;
  bool inference_;
  IdVector<TensorId, TensorId> stands_for_;
  std::vector<bool> kept_, needed_;
};

}  // namespace

Graph simplify(const Graph& graph, bool inference) { return Simplifier(graph, inference).run(); }

}  // namespace strato
