#include "core/program/value/recompute.h"

#include <algorithm>
#include <span>

#include "core/program/value/tables.h"

namespace strato {
namespace {

// Of ops that may be. An embedding would need its table a second time.
bool is_chosen(const Graph& graph, OpId id, Recompute which) {
  const Op& op = graph.op(id);
  if (!may_recompute(graph, id) || op.family == OpFamily::Embedding) return false;
  return which == Recompute::Blocks ||
         (op.family != OpFamily::MatMul && op.family != OpFamily::Convolution &&
          op.family != OpFamily::Recurrent && op.family != OpFamily::Other);
}

struct ForwardOp {
  OpId op;
  double bytes = 0;             // of what it makes
  std::size_t last_reader = 0;  // by place; its own: no op of the forward pass reads it
};

// In their order, without views.
std::vector<ForwardOp> forward_ops(const Graph& graph) {
  std::vector<ForwardOp> ops;
  IdVector<OpId, std::int32_t> place_of(graph.op_count(), -1);
  for (const OpId op : graph.ops().ids()) {
    if (graph.op(op).phase != Phase::Forward || is_alias(graph, op)) continue;
    const std::size_t place = ops.size();
    place_of[op] = static_cast<std::int32_t>(place);
    ops.push_back({op, 0, place});
    for (const TensorId output : graph.op(op).outputs)
      ops.back().bytes += static_cast<double>(graph.tensor(output).bytes().value);
    for (const TensorId input : graph.op(op).inputs) {
      const OpId producer = input.valid() ? graph.tensor(root_of(graph, input)).producer : OpId();
      if (producer.valid() && place_of[producer] >= 0)
        ops[static_cast<std::size_t>(place_of[producer])].last_reader = place;
    }
  }
  return ops;
}

// The ends of blocks in which at most `most` bytes are made, but where a single op makes more. In
// the second half of what fits, the cut is where the fewest bytes cross.
std::vector<std::size_t> cut_into_blocks(std::span<const ForwardOp> ops,
                                         std::span<const double> across, double most) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0, from = 0;  // of the block; of the places where it may be cut
  double made = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (made > 0 && made + ops[i].bytes > most) {
      std::size_t cut = i;
      for (std::size_t at = i; at-- > std::max(from, begin + 1);)
        if (across[at] < across[cut]) cut = at;
      ends.push_back(cut);
      begin = from = i = cut;
      made = 0;
    }
    if (made <= most / 2) from = i + 1;
    made += ops[i].bytes;
  }
  ends.push_back(ops.size());
  return ends;
}

// What stands between blocks, as often as there are passes under way, and what is made within the
// largest of them.
double memory_of(std::span<const ForwardOp> ops, std::span<const std::size_t> ends,
                 double in_flight) {
  double kept = 0, largest = 0;
  std::size_t i = 0;
  for (const std::size_t end : ends) {
    double made = 0;
    for (; i < end; ++i) (ops[i].last_reader >= end ? kept : made) += ops[i].bytes;
    largest = std::max(largest, made);
  }
  return in_flight * kept + largest;
}

std::vector<std::size_t> best_blocks(std::span<const ForwardOp> ops, double in_flight) {
  constexpr int kSizes = 28;
  constexpr double kSmaller = 0.70710678;
  std::vector<double> across(ops.size() + 1);  // bytes made before a place and read behind it
  double total = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    total += ops[i].bytes;
    across[i + 1] += ops[i].bytes;
    if (ops[i].last_reader + 1 < across.size()) across[ops[i].last_reader + 1] -= ops[i].bytes;
  }
  for (std::size_t at = 1; at < across.size(); ++at) across[at] += across[at - 1];
  std::vector<std::size_t> best{ops.size()};
  double least = memory_of(ops, best, in_flight);
  double most = total;
  for (int size = 0; size < kSizes; ++size) {
    most *= kSmaller;
    std::vector<std::size_t> ends = cut_into_blocks(ops, across, most);
    if (const double memory = memory_of(ops, ends, in_flight); memory < least) {
      least = memory;
      best = std::move(ends);
    }
  }
  return best;
}

}  // namespace

std::optional<Recompute> recompute_from(std::string_view name) {
  const auto at = std::ranges::find(kRecompute, name);
  if (at == kRecompute.end()) return std::nullopt;
  return static_cast<Recompute>(at - kRecompute.begin());
}

bool may_recompute(const Graph& graph, OpId op) {
  if (graph.op(op).phase != Phase::Forward || is_alias(graph, op)) return false;
  return std::ranges::none_of(graph.op(op).outputs, [&](TensorId output) {
    const auto is_update = [&](OpId reader) { return graph.op(reader).phase == Phase::Update; };
    return graph.tensor(output).batch.kind == BatchKind::Partial ||
           std::ranges::any_of(graph.consumers(output), is_update);
  });
}

std::vector<OpId> recomputed_ops(const Graph& graph, Recompute which, std::int64_t in_flight) {
  std::vector<OpId> result;
  if (which == Recompute::None) return result;
  const std::vector<ForwardOp> ops = forward_ops(graph);
  std::vector<std::size_t> ends = best_blocks(ops, static_cast<double>(in_flight));
  if (in_flight == 1) ends.pop_back();  // the backward pass begins with the last block
  std::size_t i = 0;
  for (const std::size_t end : ends)
    for (; i < end; ++i)
      if (ops[i].last_reader < end && is_chosen(graph, ops[i].op, which))
        result.push_back(ops[i].op);
  return result;
}

}  // namespace strato
