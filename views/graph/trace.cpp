#include "views/graph/trace.h"

#include <algorithm>

namespace strato {
namespace {
bool goes_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }
}  // namespace

std::vector<char> trace(const Graph& graph, std::span<const OpId> from, TraceWay way) {
  std::vector<char> marks(graph.op_count(), 0);
  std::vector<OpId> next;
  for (const OpId op : from) {
    if (goes_forward(graph.op(op))) next.push_back(op);
  }
  const bool forward_only = !next.empty();
  if (!forward_only) next.assign(from.begin(), from.end());
  for (const OpId op : next) marks[op.index()] = 1;
  const auto visit = [&](OpId op) {
    if (!op.valid() || marks[op.index()] != 0) return;
    if (forward_only && !goes_forward(graph.op(op))) return;
    marks[op.index()] = 1;
    next.push_back(op);
  };
  while (!next.empty()) {
    const Op& op = graph.op(next.back());
    next.pop_back();
    for (const TensorId tensor : way == TraceWay::Inputs ? op.inputs : op.outputs) {
      if (!tensor.valid()) continue;
      if (way == TraceWay::Inputs) {
        visit(graph.tensor(tensor).producer);
      } else {
        for (const OpId reader : graph.consumers(tensor)) visit(reader);
      }
    }
  }
  return marks;
}

std::vector<char> traced_nodes(const GraphContent& content, const Grouping& grouping,
                               const std::vector<char>& traced) {
  std::vector<char> result;
  for (const GraphNode& node : content.nodes) {
    std::vector<OpId> ops = ops_of(node, grouping);
    if (node.boundary && node.group.valid()) ops = grouping.group(node.group).ops;
    result.push_back(std::ranges::any_of(ops, [&](OpId op) { return traced[op.index()] != 0; }));
  }
  return result;
}

}  // namespace strato
