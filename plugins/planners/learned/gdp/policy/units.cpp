#include "plugins/planners/learned/gdp/policy/units.h"

#include "core/schedule/dag/disjoint_sets.h"

namespace strato::gdp {
namespace {

bool is_forward(const Op& op) { return op.phase == Phase::Forward || op.phase == Phase::Loss; }

}  // namespace

Units units_of(const Problem& problem, const Dag& dag, Colocate colocate) {
  const Graph& graph = *problem.graph;
  const std::size_t ops = graph.op_count();
  DisjointSets sets(ops);
  std::vector<std::int32_t> first(static_cast<std::size_t>(dag.colocation_count()), -1);
  for (std::size_t i = 0; i < ops; ++i) {
    const auto op = static_cast<std::int32_t>(i);
    if (const std::int32_t group = dag.colocation(op); group >= 0) {
      std::int32_t& of_group = first[static_cast<std::size_t>(group)];
      if (of_group < 0) of_group = op;
      sets.join(of_group, op);
    }
    const OpId forward = graph.op(OpId(i)).forward;
    if (colocate == Colocate::Gradients && forward.valid()) sets.join(forward.value(), op);
  }
  Units units;
  std::vector<std::int32_t> number(ops, -1);
  for (std::size_t i = 0; i < ops; ++i) {
    std::int32_t& mine = number[static_cast<std::size_t>(sets.root(static_cast<std::int32_t>(i)))];
    if (mine < 0) {
      mine = units.count++;
      units.leader.emplace_back(i);
    }
    OpId& leader = units.leader[static_cast<std::size_t>(mine)];
    if (!is_forward(graph.op(leader)) && is_forward(graph.op(OpId(i)))) leader = OpId(i);
    units.of_op.push_back(mine);
  }
  return units;
}

}  // namespace strato::gdp
