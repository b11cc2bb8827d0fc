#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/at.h"
#include "plugins/planners/list/fastt/os_dpos.h"

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
        weights_(std::move(weights)),
        total_(std::accumulate(weights_.begin(), weights_.end(), std::int64_t{0})) {
    split_.edit.removed = std::move(replaced);
    split_.op = info(split_.edit.removed.front()).op;
    split_.parts = static_cast<int>(weights_.size());
    inputs_of_all();
    outputs_of_all();
  }

  // `is_cut`: whether parts read only their piece of a tensor. `time`: of a part on a GPU type.
  // `adds_up`: every part makes partial sums of all of it, instead of its piece.
  template <class IsCut, class Time>
  Split split(Role role, const std::vector<std::int64_t>& samples, const IsCut& is_cut,
              const Time& time, bool adds_up) {
    add_inputs(is_cut);
    add_parts(role, samples, time);
    add_outputs(adds_up);
    return std::move(split_);
  }

 private:
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
  void add_parts(Role role, const std::vector<std::int64_t>& samples, const Time& time) {
    Bytes memory;
    for (const NodeIndex node : split_.edit.removed) memory += dpos_.dag().memory(node);
    for (std::size_t p = 0; p < weights_.size(); ++p) {
      parts_.push_back(add(role, split_.op, samples[p], rounded_part(memory, weights_[p], total_),
                           times_by_gpu(problem_, [&](GpuTypeId gpu) { return time(p, gpu); })));
      for (const auto& [source, cut, whole] : sources_)
        split_.edit.edges.push_back(
            {source, parts_.back(), rounded_part(cut, weights_[p], total_) + whole});
    }
  }

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
    return times_by_gpu(problem_,
                        [&](GpuTypeId gpu) { return problem_.cost->local_move(gpu, bytes); });
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

  Split split_;
  const Problem& problem_;
  const Graph& graph_;
  const std::vector<NodeInfo>& nodes_;
  const Dpos& dpos_;
  std::vector<std::int64_t> weights_;
  std::int64_t total_;
  std::map<NodeIndex, Bytes> inputs_, outputs_;
  std::vector<Source> sources_;
  std::vector<NodeIndex> parts_;
};

}  // namespace

std::optional<Split> split_batch(const Problem& problem, const std::vector<NodeInfo>& nodes,
                                 const Dpos& dpos, NodeIndex node, int parts) {
  const NodeInfo& info = nodes[at(node)];
  if (info.samples < parts) return std::nullopt;
  const std::vector<std::int64_t> samples = equal_parts(info.samples, at(parts));
  return Splitting(problem, nodes, dpos, {node}, samples)
      .split(
          Role::Part, samples,
          [](std::size_t, const Tensor& tensor) { return tensor.batch.kind == BatchKind::Batched; },
          [&](std::size_t part, GpuTypeId gpu) {
            return problem.cost->compute(info.op, gpu, samples[part]);
          },
          problem.graph->op(info.op).split == Splittability::Sum);
}

Split split_axis(const Problem& problem, const std::vector<NodeInfo>& nodes, const Dpos& dpos,
                 const std::vector<NodeIndex>& replicas, const SplitAxis& axis, int parts) {
  const std::int64_t batch = problem.graph->batch();
  const OpId op = nodes[at(replicas.front())].op;
  Split split =
      Splitting(problem, nodes, dpos, replicas, std::vector<std::int64_t>(at(parts), 1))
          .split(
              Role::Slice, std::vector<std::int64_t>(at(parts), batch),
              [&](std::size_t input, const Tensor&) { return axis.inputs[input] >= 0; },
              [&](std::size_t, GpuTypeId gpu) {
                return Nanos((problem.cost->compute(op, gpu, batch).value + parts - 1) / parts);
              },
              false);
  split.axis = axis.axis;
  return split;
}

}  // namespace strato::fastt
