#include "core/search/run/tree_problem.h"

#include <utility>

#include "core/strategy/file/rebind.h"

namespace strato {

std::optional<Problem> problem_of_tree(const SearchTree& tree, const Problem& problem,
                                       const NamedStrategy& best) {
  if (tree.problem == problem.digest()) return problem;
  if (!best.names_ops()) return {};
  RestoredGrouping restored = restore_grouping(
      best, *problem.graph, mean_op_times(*problem.graph, *problem.cluster, *problem.cost));
  if (restored.grouping.size() != tree.order.size()) return {};
  Problem other = with_grouping(problem, std::move(restored.grouping));
  if (tree.problem != other.digest()) return {};
  return other;
}

}  // namespace strato
