#include "core/schedule/dag/dag_of.h"

#include <algorithm>

#include "core/base/disjoint_sets.h"
#include "core/program/value/tables.h"

namespace strato {
namespace {

class GraphToDag {
 public:
  explicit GraphToDag(const Problem& problem)
      : graph_(*problem.graph),
        cost_(*problem.cost),
        types_(problem.cluster->gpu_types().size()),
        memory_(graph_.op_count()),
        root_(graph_.tensor_count()),
        sets_(graph_.op_count()) {}

  Dag run() {
    follow_aliases();
    count_residents();
    count_activations();
    const std::vector<std::int32_t> colocation = sets_.numbered();
    DagBuilder builder(types_);
    for (std::size_t i = 0; i < graph_.op_count(); ++i)
      builder.add_node(times(OpId(i)), memory_[i], colocation[i]);
    for (std::size_t t = 0; t < graph_.tensor_count(); ++t) add_edges(builder, TensorId(t));
    return std::move(builder).build();
  }

 private:
  // root_: the tensor whose bytes these are.
  void follow_aliases() {
    for (std::size_t t = 0; t < root_.size(); ++t) root_[TensorId(t)] = TensorId(t);
    for (std::size_t i = 0; i < graph_.op_count(); ++i) {
      if (!is_alias(graph_, OpId(i))) continue;
      const Op& op = graph_.op(OpId(i));
      const TensorId of = *std::ranges::find_if(op.inputs, &TensorId::valid);
      for (const TensorId output : op.outputs)
        if (output.valid()) root_[output] = root_[of];
    }
  }

  // By GPU type. The simulator takes at least a nanosecond for what it runs at all.
  std::vector<Nanos> times(OpId op) const {
    std::vector<Nanos> times(types_);
    if (is_alias(graph_, op)) return times;
    for (std::size_t t = 0; t < types_; ++t)
      times[t] = std::max(Nanos(1), cost_.compute(op, GpuTypeId(t), graph_.batch()));
    return times;
  }

  void count_residents() {
    for (const TensorId id : graph_.tensors().ids()) {
      const Tensor& tensor = graph_.tensor(id);
      const std::span<const OpId> readers = graph_.consumers(id);
      if (tensor.producer.valid() || readers.empty()) continue;
      const bool trained = graph_.update_of(id).valid();
      memory_[readers[0].index()] += tensor.bytes() * (trained ? 2 : 1);
      if (tensor.role != TensorRole::Parameter) continue;
      for (const OpId reader : readers) sets_.join(readers[0].value(), reader.value());
    }
  }

  // Outputs of forward ops stay until the backward ops have read them, also through views.
  void count_activations() {
    std::vector<char> counted(graph_.tensor_count(), false);
    for (std::size_t t = 0; t < graph_.tensor_count(); ++t) {
      const TensorId root = root_[TensorId(t)];
      const OpId producer = graph_.tensor(root).producer;
      if (counted[root.index()] || !producer.valid() || is_late(producer)) continue;
      const auto late = [&](OpId reader) { return is_late(reader); };
      if (std::ranges::none_of(graph_.consumers(TensorId(t)), late)) continue;
      counted[root.index()] = true;
      memory_[producer.index()] += graph_.tensor(root).bytes();
    }
  }
  bool is_late(OpId op) const {
    const Phase phase = graph_.op(op).phase;
    return phase == Phase::Backward || phase == Phase::Update;
  }

  void add_edges(DagBuilder& builder, TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    const Bytes bytes = std::max(Bytes(1), tensor.bytes());  // as lowering sends it
    if (tensor.producer.valid())
      for (const OpId reader : graph_.consumers(id))
        builder.add_edge(tensor.producer.value(), reader.value(), bytes);
    // The order of ops cannot say it where an imported graph has a reader after the update.
    if (const OpId update = graph_.update_of(id); update.valid())
      for (const OpId reader : graph_.consumers(id))
        if (reader < update) builder.add_edge(reader.value(), update.value(), Bytes(0));
  }

  const Graph& graph_;
  const CostModel& cost_;
  std::size_t types_;
  std::vector<Bytes> memory_;
  IdVector<TensorId, TensorId> root_;
  DisjointSets sets_;
};

}  // namespace

Dag dag_of(const Problem& problem) { return GraphToDag(problem).run(); }

}  // namespace strato
