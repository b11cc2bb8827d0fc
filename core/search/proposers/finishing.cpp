#include "core/search/proposers/finishing.h"

#include <algorithm>

namespace strato {

Finishing::Finishing(const Problem& problem, const ActionTable& table,
                     const TreeSearchOptions& options)
    : table_(table), options_(options), partial_(problem, options.finish) {}

Strategy Finishing::finished(const ActionVector& actions) const {
  Strategy strategy = unfinished(actions);
  if (options_.finish) options_.finish(strategy);
  return strategy;
}

Strategy Finishing::seen_by_tree(const ActionVector& actions) const {
  return tree_unfinished_ ? unfinished(actions) : finished(actions);
}

Strategy Finishing::of(const Candidate& candidate) const {
  return partial_.apply(unfinished(candidate.actions), candidate.unfinished);
}

// Otherwise finished than the tree's they are others, unless there is nothing to finish.
bool Finishing::is_seen_by_tree(const Candidate& candidate) const {
  const bool alike = std::ranges::all_of(candidate.unfinished,
                                         [&](bool flag) { return flag == tree_unfinished_; });
  return alike || seen_by_tree(candidate.actions) == of(candidate);
}

std::vector<std::size_t> Finishing::groups_of(const ActionVector& actions) const {
  return partial_.groups_of(unfinished(actions));
}

GroupFlags Finishing::that_matter(const GroupFlags& unfinished, const ActionVector& actions) const {
  return partial_.that_matter(unfinished, this->unfinished(actions));
}

}  // namespace strato
