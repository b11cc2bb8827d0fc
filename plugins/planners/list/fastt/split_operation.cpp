#include "plugins/planners/list/fastt/split_operation.h"

#include <algorithm>
#include <map>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/strategy/value/strategy.h"

namespace strato::fastt {
namespace {

Bytes rounded_part(Bytes bytes, std::int64_t of, std::int64_t all) {
  return Bytes((bytes.value * of + all - 1) / all);
}

class Splitting {
 public:
  // `weights`: of the parts.
  Splitting(const Problem& problem, const std::vector<NodeInfo>& nodes, const Dpos& dpos,
            std::vector<NodeIndex> replaced, std::vector<std::int64_t> weights)
      : problem_(problem),
        graph_(*problem.graph),
        nodes_(nodes),
        dpos_(dpos),
        weights_(std::move(weights)) {
    for (const std::int64_t weight : weights_) total_ += weight;
    split_.edit.removed = std::move(replaced);
    split_.op = info(split_.edit.removed.front()).op;
    split_.parts = static_cast<int>(weights_.size());
    inputs_of_all();
    outputs_of_all();
  }

  // `is_cut`: whether parts read only their piece of a tensor.
  template <class IsCut>
  void add_inputs(const IsCut& is_cut) {
    for (const auto& [from, bytes] : inputs_) {
      const Bytes cut = rounded_part(bytes, cut_part(from, is_cut), 1 << 20);
      NodeIndex source = from;
      if (cut.value > 0) {
        source = add(Role::Split, info(from).op, 0, Bytes(), local_move(cut * 2));
        split_.edit.edges.push_back({from, source, bytes});
      }
      sources_.emplace_back(source, cut, bytes - cut);
    }
  }

  template <class Time>
  void add_parts(Role role, const std::vector<std::int64_t>& samples, const Time& times) {
    Bytes memory;
    for (const NodeIndex node : split_.edit.removed) memory += dpos_.dag().memory(node);
    for (std::size_t p = 0; p < weights_.size(); ++p) {
      parts_.push_back(
          add(role, split_.op, samples[p], rounded_part(memory, weights_[p], total_), times(p)));
      for (const auto& [source, cut, whole] : sources_)
        split_.edit.edges.push_back(
            {source, parts_.back(), rounded_part(cut, weights_[p], total_) + whole});
    }
  }

  // `adds_up`: every part makes partial sums of all of it, instead of its piece.
  void add_outputs(bool adds_up) {
    const auto count = static_cast<std::int64_t>(parts_.size());
    for (const auto& [to, bytes] : outputs_) {
      NodeIndex reader = to;
      if (!adds_up || info(to).role != Role::Sum) {
        reader = add(Role::Join, split_.op, 0, Bytes(),
                     local_move(adds_up ? bytes * (count + 1) : bytes * 2));
        split_.edit.edges.push_back({reader, to, bytes});
      }
      for (std::size_t p = 0; p < parts_.size(); ++p)
        split_.edit.edges.push_back(
            {parts_[p], reader, adds_up ? bytes : rounded_part(bytes, weights_[p], total_)});
    }
  }

  std::vector<Nanos> times_of(NodeIndex node) const {
    std::vector<Nanos> times;
    for (std::size_t type = 0; type < types(); ++type)
      times.push_back(dpos_.dag().time(node, GpuTypeId(type)));
    return times;
  }
  std::size_t types() const { return problem_.cluster->gpu_types().size(); }

  Split split_;

 private:
  const NodeInfo& info(NodeIndex node) const { return nodes_[at(node)]; }

  void inputs_of_all() {
    for (const NodeIndex node : split_.edit.removed)
      for (const EditableDag::Half& half : dpos_.dag().predecessors(node)) {
        const NodeInfo& from = info(half.node);
        const bool again = from.role == Role::Copy && from.replica > 0;
        if (again && split_.edit.removed.size() > 1) continue;  // another copy is there
        Bytes& bytes = inputs_[half.node];
        bytes = from.role == Role::Variable || from.role == Role::Copy
                    ? std::max(bytes, dpos_.transfer_bytes(half))
                    : bytes + dpos_.transfer_bytes(half);
      }
  }
  void outputs_of_all() {
    for (const NodeIndex node : split_.edit.removed)
      for (const EditableDag::Half& half : dpos_.dag().successors(node)) {
        Bytes& bytes = outputs_[half.node];
        bytes = info(half.node).role == Role::Sum ? dpos_.transfer_bytes(half)
                                                  : bytes + dpos_.transfer_bytes(half);
      }
  }

  // In 2^-20: how much of what comes from there is cut.
  template <class IsCut>
  std::int64_t cut_part(NodeIndex from, const IsCut& is_cut) const {
    const NodeInfo& source = info(from);
    std::int64_t cut = 0, all = 0;
    const auto& inputs = graph_.op(split_.op).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].valid()) continue;
      const Tensor& tensor = graph_.tensor(inputs[i]);
      const bool is_here = source.tensor.valid()
                               ? source.tensor == inputs[i]
                               : tensor.producer.valid() && tensor.producer == source.op;
      if (!is_here) continue;
      all += tensor.bytes().value;
      if (is_cut(i, tensor)) cut += tensor.bytes().value;
    }
    if (cut == 0) return 0;
    return static_cast<std::int64_t>(static_cast<double>(cut) / static_cast<double>(all) *
                                     (1 << 20));
  }

  std::vector<Nanos> local_move(Bytes bytes) const {
    std::vector<Nanos> times;
    for (std::size_t type = 0; type < types(); ++type)
      times.push_back(std::max(Nanos(1), problem_.cost->local_move(GpuTypeId(type), bytes)));
    return times;
  }

  NodeIndex add(Role role, OpId op, std::int64_t samples, Bytes memory, std::vector<Nanos> times) {
    const auto number = static_cast<NodeIndex>(dpos_.dag().size() + split_.edit.added.size());
    split_.edit.added.push_back({std::move(times), memory, split_.edit.removed.back()});
    split_.added.push_back({role, op, {}, 0, samples});
    return number;
  }

  struct Source {
    NodeIndex node;
    Bytes cut, whole;
  };

  const Problem& problem_;
  const Graph& graph_;
  const std::vector<NodeInfo>& nodes_;
  const Dpos& dpos_;
  std::vector<std::int64_t> weights_;
  std::int64_t total_ = 0;
  std::map<NodeIndex, Bytes> inputs_, outputs_;
  std::vector<Source> sources_;
  std::vector<NodeIndex> parts_;
};

}  // namespace

std::optional<Split> split_batch(const Problem& problem, const std::vector<NodeInfo>& nodes,
                                 const Dpos& dpos, NodeIndex node, int parts) {
  const NodeInfo& info = nodes[at(node)];
  if (info.samples < parts) return std::nullopt;
  std::vector<DeviceShare> shares;
  for (int p = 0; p < parts; ++p) shares.push_back({DeviceId(at(p)), 1});
  const std::vector<std::int64_t> samples = apportion(info.samples, shares);
  Splitting splitting(problem, nodes, dpos, {node}, samples);
  splitting.add_inputs(
      [](std::size_t, const Tensor& tensor) { return tensor.batch.kind == BatchKind::Batched; });
  splitting.add_parts(Role::Part, samples, [&](std::size_t p) {
    std::vector<Nanos> times;
    for (std::size_t type = 0; type < splitting.types(); ++type)
      times.push_back(
          std::max(Nanos(1), problem.cost->compute(info.op, GpuTypeId(type), samples[p])));
    return times;
  });
  splitting.add_outputs(problem.graph->op(info.op).split == Splittability::Sum);
  return std::move(splitting.split_);
}

Split split_axis(const Problem& problem, const std::vector<NodeInfo>& nodes, const Dpos& dpos,
                 const std::vector<NodeIndex>& replicas, const SplitAxis& axis, int parts) {
  const auto count = at(parts);
  const std::int64_t batch = problem.graph->batch();
  Splitting splitting(problem, nodes, dpos, replicas, std::vector<std::int64_t>(count, 1));
  splitting.split_.axis = axis.axis;
  splitting.add_inputs([&](std::size_t input, const Tensor&) { return axis.inputs[input] >= 0; });
  const OpId op = splitting.split_.op;
  splitting.add_parts(Role::Slice, std::vector<std::int64_t>(count, batch), [&](std::size_t) {
    std::vector<Nanos> times;
    for (std::size_t type = 0; type < splitting.types(); ++type) {
      const Nanos all = problem.cost->compute(op, GpuTypeId(type), batch);
      times.push_back(std::max(Nanos(1), Nanos((all.value + parts - 1) / parts)));
    }
    return times;
  });
  splitting.add_outputs(false);
  return std::move(splitting.split_);
}

}  // namespace strato::fastt
