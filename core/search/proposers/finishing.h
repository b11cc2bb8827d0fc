// How a search finishes its strategies (TreeSearchOptions::finish): always, group by group as that
// is better (partial_finish.h), or not at all. Where it chooses, the tree looks at finished
// strategies, until the search finds that it had better look at unfinished ones.
#pragma once

#include <vector>

#include "core/search/local/partial_finish.h"
#include "core/search/mcts/action_table.h"

namespace strato {

class Finishing {
 public:
  // Refers to the table and the options.
  Finishing(const Problem& problem, const ActionTable& table, const TreeSearchOptions& options);

  bool exists() const { return options_.finish != nullptr; }
  bool is_chosen() const { return exists() && !options_.finish_always; }  // group by group
  bool is_of_tree() const { return exists() && !tree_unfinished_; }
  // From now on the tree looks at unfinished strategies.
  void leave_to_others() { tree_unfinished_ = true; }
  bool is_left_to_others() const { return tree_unfinished_; }

  Strategy unfinished(const ActionVector& actions) const { return table_.strategy_of(actions); }
  Strategy finished(const ActionVector& actions) const;
  Strategy seen_by_tree(const ActionVector& actions) const;
  Strategy of(const Candidate& candidate) const;
  bool is_seen_by_tree(const Candidate& candidate) const;  // as it is

  GroupFlags all(bool flag) const { return GroupFlags(table_.groups(), flag); }
  GroupFlags flags_of_tree() const { return all(tree_unfinished_); }
  // Groups in which finishing changes something, those with most parameters first.
  std::vector<std::size_t> groups_of(const ActionVector& actions) const;
  // Those of `unfinished` in which finishing would change something.
  GroupFlags that_matter(const GroupFlags& unfinished, const ActionVector& actions) const;

 private:
  const ActionTable& table_;
  const TreeSearchOptions& options_;
  const PartialFinish partial_;
  bool tree_unfinished_ = false;
};

}  // namespace strato
