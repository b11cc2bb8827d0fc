#include "plugins/planners/list/fastt/replica_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/at.h"
#include "core/program/value/tables.h"

namespace strato::fastt {
namespace {

class Builder {
 public:
  Builder(const Problem& problem, std::size_t replicas)
      : problem_(problem),
        graph_(*problem.graph),
        builder_(problem.cluster->gpu_types().size()),
        role_(graph_.op_count()),
        kept_(kept_bytes(graph_, [](const Op& op) { return op.phase == Phase::Backward; })),
        group_(graph_.op_count(), -1),
        variable_(graph_.tensor_count(), -1),
        sum_(graph_.tensor_count(), -1) {
    replicas = std::clamp<std::size_t>(replicas, 1, static_cast<std::size_t>(graph_.batch()));
    result_.samples = equal_parts(graph_.batch(), replicas);
    result_.of_op.resize(graph_.op_count());
  }

  ReplicaGraph run() {
    for (std::size_t i = 0; i < graph_.op_count(); ++i) {
      role_[OpId(i)] = role_of(OpId(i));
      add_op(OpId(i));
    }
    result_.dag = std::move(builder_).build();
    return std::move(result_);
  }

 private:
  bool is_update(OpId op) const { return graph_.op(op).phase == Phase::Update; }
  OpId producer(TensorId tensor) const { return graph_.tensor(tensor).producer; }

  Role role_of(OpId id) const {
    const Op& op = graph_.op(id);
    if (result_.replicas() == 1 || is_update(id)) return Role::Single;
    bool is_free = true, in_parts = op.split != Splittability::None;
    for (const TensorId input : op.inputs) {
      if (!input.valid()) continue;
      const Tensor& tensor = graph_.tensor(input);
      if (!tensor.producer.valid()) {
        is_free = is_free && tensor.batch.kind == BatchKind::Whole;
        continue;
      }
      is_free = is_free && role_[tensor.producer] == Role::Copy;
      // Partial sums of other makers are summed first.
      if (tensor.batch.kind == BatchKind::Partial && role_[tensor.producer] != Role::Replica)
        in_parts = false;
    }
    return in_parts ? Role::Replica : is_free ? Role::Copy : Role::Single;
  }

  NodeIndex add(const NodeInfo& info, Bytes memory, std::int32_t colocation,
                const std::vector<Nanos>& times) {
    result_.nodes.push_back(info);
    return builder_.add_node(times, memory, colocation);
  }
  std::vector<Nanos> no_time() const {
    return std::vector<Nanos>(problem_.cluster->gpu_types().size());
  }

  std::int32_t group_of(OpId update) {
    if (group_[update] < 0) group_[update] = groups_++;
    return group_[update];
  }

  NodeIndex variable(TensorId parameter) {
    NodeIndex& node = variable_[parameter];
    if (node < 0)
      node = add({Role::Variable, graph_.update_of(parameter), parameter, 0, graph_.batch()},
                 graph_.tensor(parameter).bytes() * 2, group_of(graph_.update_of(parameter)),
                 no_time());
    return node;
  }

  // Sums the partial sums that all replicas make of a tensor.
  NodeIndex sum(TensorId tensor, OpId reader) {
    NodeIndex& node = sum_[tensor];
    if (node >= 0) return node;
    const Bytes bytes = graph_.tensor(tensor).bytes();
    const auto terms = static_cast<std::int64_t>(result_.replicas());
    node =
        add({Role::Sum, producer(tensor), tensor, 0, graph_.batch()}, Bytes(),
            is_update(reader) ? group_of(reader) : -1, times_by_gpu(problem_, [&](GpuTypeId gpu) {
              return problem_.cost->local_move(gpu, bytes * (terms + 1));
            }));
    for (const NodeIndex term : result_.of_op[producer(tensor)])
      builder_.add_edge(term, node, bytes);
    return node;
  }

  Bytes slice(const Tensor& tensor, std::int64_t samples) const {
    if (tensor.batch.kind != BatchKind::Batched) return tensor.bytes();
    return std::max(Bytes(1), tensor.bytes() * samples / graph_.batch());
  }

  void add_op(OpId id) {
    std::vector<TensorId> inputs;
    for (const TensorId input : graph_.op(id).inputs)
      if (input.valid() && std::ranges::find(inputs, input) == inputs.end())
        inputs.push_back(input);
    // First what stands before it.
    Bytes state;
    for (const TensorId input : inputs) {
      if (graph_.tensor(input).role == TensorRole::OptimizerState)
        state += graph_.tensor(input).bytes();
      if (is_variable(input)) variable(input);
      if (needs_sum(input, id)) sum(input, id);
    }
    const std::size_t count = role_[id] == Role::Single ? 1 : result_.replicas();
    const bool alias = is_alias(graph_, id);
    for (std::size_t r = 0; r < count; ++r) {
      const std::int64_t samples = role_[id] == Role::Replica ? result_.samples[r] : graph_.batch();
      const NodeIndex node =
          add({role_[id], id, {}, static_cast<std::int32_t>(r), samples},
              state + kept_[id] * samples / graph_.batch(), is_update(id) ? group_of(id) : -1,
              alias ? no_time() : times_by_gpu(problem_, [&](GpuTypeId gpu) {
                return problem_.cost->compute(id, gpu, samples);
              }));
      result_.of_op[id].push_back(node);
      for (const TensorId input : inputs) add_input(input, id, node, r);
    }
  }

  bool is_variable(TensorId tensor) const {
    return graph_.tensor(tensor).role == TensorRole::Parameter && !producer(tensor).valid() &&
           graph_.update_of(tensor).valid();
  }
  bool needs_sum(TensorId tensor, OpId reader) const {
    return producer(tensor).valid() && graph_.tensor(tensor).batch.kind == BatchKind::Partial &&
           role_[producer(tensor)] == Role::Replica && role_[reader] != Role::Replica;
  }

  void add_input(TensorId input, OpId op, NodeIndex node, std::size_t replica) {
    const Tensor& tensor = graph_.tensor(input);
    if (is_variable(input)) {
      if (!is_update(op)) builder_.add_edge(variable_[input], node, tensor.bytes());
      return;
    }
    if (!tensor.producer.valid()) return;
    if (needs_sum(input, op)) return builder_.add_edge(sum_[input], node, tensor.bytes());
    const std::vector<NodeIndex>& makers = result_.of_op[tensor.producer];
    if (role_[op] == Role::Single && role_[tensor.producer] == Role::Replica &&
        tensor.batch.kind == BatchKind::Batched) {  // all of it
      for (std::size_t r = 0; r < makers.size(); ++r)
        builder_.add_edge(makers[r], node, slice(tensor, result_.samples[r]));
      return;
    }
    const std::int64_t samples = result_.nodes[at(node)].samples;
    builder_.add_edge(makers[makers.size() == 1 ? 0 : replica], node, slice(tensor, samples));
  }

  const Problem& problem_;
  const Graph& graph_;
  DagBuilder builder_;
  ReplicaGraph result_;
  IdVector<OpId, Role> role_;
  IdVector<OpId, Bytes> kept_;          // activations that the backward pass reads
  IdVector<OpId, std::int32_t> group_;  // of an update
  IdVector<TensorId, NodeIndex> variable_, sum_;
  std::int32_t groups_ = 0;
};

}  // namespace

std::vector<std::int64_t> equal_parts(std::int64_t total, std::size_t parts) {
  const auto count = static_cast<std::int64_t>(parts);
  std::vector<std::int64_t> result(parts, total / count);
  std::fill_n(result.begin(), total % count, total / count + 1);
  return result;
}

ReplicaGraph replica_graph(const Problem& problem, std::size_t replicas) {
  return Builder(problem, replicas).run();
}

bool splits_along_batch(const Graph& graph, OpId id) {
  const Op& op = graph.op(id);
  if (op.split == Splittability::None || op.phase == Phase::Update || is_alias(graph, id))
    return false;
  return std::ranges::none_of(op.inputs, [&](TensorId input) {
    return input.valid() && graph.tensor(input).producer.valid() &&
           graph.tensor(input).batch.kind == BatchKind::Partial;
  });
}

std::string name_of(const Graph& graph, const NodeInfo& node) {
  constexpr std::array kForms = {"{} ({})",     "{} ({})",     "{}",
                                 "variable {}", "sum of {}",   "part of {}",
                                 "part of {}",  "split of {}", "join of {}"};  // by role
  const std::string& what =
      node.tensor.valid() ? graph.tensor(node.tensor).name : graph.op(node.op).name;
  return fmt::format(fmt::runtime(kForms[static_cast<std::size_t>(node.role)]), what,
                     node.replica + 1);
}

}  // namespace strato::fastt
