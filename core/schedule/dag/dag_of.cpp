#include <algorithm>

#include "core/base/disjoint_sets.h"
#include "core/program/value/tables.h"
#include "core/schedule/dag/dag.h"

namespace strato {
namespace {

bool is_backward_or_update(const Op& op) {
  return op.phase == Phase::Backward || op.phase == Phase::Update;
}

class GraphToDag {
 public:
  explicit GraphToDag(const Problem& problem)
      : graph_(*problem.graph),
        cost_(*problem.cost),
        types_(problem.cluster->gpu_types().size()),
        memory_(kept_bytes(graph_, is_backward_or_update)),
        sets_(graph_.op_count()) {}

  Dag run() {
    count_residents();
    const std::vector<std::int32_t> colocation = sets_.numbered();
    DagBuilder builder(types_);
    for (std::size_t i = 0; i < graph_.op_count(); ++i)
      builder.add_node(times(OpId(i)), memory_[OpId(i)], colocation[i]);
    for (std::size_t t = 0; t < graph_.tensor_count(); ++t) add_edges(builder, TensorId(t));
    return std::move(builder).build();
  }

 private:
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
      memory_[readers[0]] += tensor.bytes() * (trained ? 2 : 1);
      if (tensor.role != TensorRole::Parameter) continue;
      for (const OpId reader : readers) sets_.join(readers[0].value(), reader.value());
    }
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
  IdVector<OpId, Bytes> memory_;
  DisjointSets sets_;
};

}  // namespace

IdVector<OpId, Bytes> kept_bytes(const Graph& graph, bool (*is_late)(const Op&)) {
  IdVector<OpId, Bytes> kept(graph.op_count());
  IdVector<TensorId, TensorId> root(graph.tensor_count());  // the tensor whose bytes these are
  IdVector<TensorId, char> counted(graph.tensor_count());
  for (std::size_t t = 0; t < root.size(); ++t) root[TensorId(t)] = TensorId(t);
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    if (!is_alias(graph, OpId(i))) continue;
    const Op& op = graph.op(OpId(i));
    const TensorId of = *std::ranges::find_if(op.inputs, &TensorId::valid);
    for (const TensorId output : op.outputs)
      if (output.valid()) root[output] = root[of];
  }
  const auto late = [&](OpId op) { return is_late(graph.op(op)); };
  for (std::size_t t = 0; t < root.size(); ++t) {
    const TensorId from = root[TensorId(t)];
    const OpId producer = graph.tensor(from).producer;
    if (counted[from] || !producer.valid() || late(producer)) continue;
    if (std::ranges::none_of(graph.consumers(TensorId(t)), late)) continue;
    counted[from] = true;
    kept[producer] += graph.tensor(from).bytes();
  }
  return kept;
}

Dag dag_of(const Problem& problem) { return GraphToDag(problem).run(); }

}  // namespace strato
