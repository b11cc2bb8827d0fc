#include "views/graph/trace.h"

#include <algorithm>
#include <utility>

namespace strato {
namespace {
bool goes_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }
}  // namespace

std::vector<char> traced_ops(const Graph& graph, std::span<const OpId> from, TraceWay way) {
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

PathMarks path_marks(const GraphContent& content, const Problem& problem,
                     std::span<const OpId> path) {
  std::vector<int> node_of(problem.graph->op_count(), -1);
  for (std::size_t n = 0; n < content.nodes.size(); ++n) {
    for (const OpId op : ops_of(content.nodes[n], *problem.grouping))
      node_of[op.index()] = static_cast<int>(n);
  }
  PathMarks marks{std::vector<char>(content.nodes.size(), 0),
                  std::vector<char>(content.edges.size(), 0)};
  std::vector<std::pair<int, int>> steps;
  int last = -1;
  for (const OpId op : path) {
    const int node = node_of[op.index()];
    if (node >= 0) marks.nodes[static_cast<std::size_t>(node)] = 1;
    if (node >= 0 && last >= 0 && node != last) steps.emplace_back(std::minmax(node, last));
    last = node;
  }
  std::ranges::sort(steps);
  for (std::size_t e = 0; e < content.edges.size(); ++e) {
    const std::pair<int, int> ends = std::minmax(content.edges[e].from, content.edges[e].to);
    marks.edges[e] = std::ranges::binary_search(steps, ends) ? 1 : 0;
  }
  return marks;
}

}  // namespace strato
