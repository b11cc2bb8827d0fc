// The history of a search tree, step by step: N and Q of every vertex after any number of back-ups,
// forwards and backwards. For people who watch or teach the search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/at.h"
#include "core/search/mcts/tree_options.h"
#include "core/search/tree/search_tree.h"

namespace strato {

class TreeReplay {
 public:
  // At step 0: before the first back-up. Trees of older files have no log: steps() is 0.
  explicit TreeReplay(std::shared_ptr<const SearchTree> tree);

  const SearchTree& tree() const { return *tree_; }
  std::size_t steps() const { return tree_->log.size(); }
  std::size_t step() const { return step_; }
  void seek(std::size_t step);  // O(depth) a step between here, or the start, and there

  std::int32_t visits(std::int32_t vertex) const { return visits_[at(vertex)]; }
  double value(std::int32_t vertex) const;  // Q, the mean reward; 0 when not visited yet
  // The best reward at or below it: Q of searches that back up the maximum.
  double best(std::int32_t vertex) const { return best_[at(vertex)]; }
  bool exists(std::int32_t vertex) const { return visits(vertex) > 0; }
  std::size_t existing() const { return existing_; }  // vertices
  // The place-th smallest of their own rewards; O(log vertices).
  float reward_at(std::size_t place) const;
  // From the root to the vertex that the last step backed up.
  std::vector<std::int32_t> path() const;
  bool expanded() const;  // the last step made its vertex

 private:
  struct Raised {  // what best_ was before a step
    std::size_t step;
    std::int32_t vertex;
    double before;
  };
  void restart();
  void forward();
  void backward();
  void count(std::int32_t vertex, int change);

  std::shared_ptr<const SearchTree> tree_;
  std::size_t step_ = 0;
  std::vector<std::int32_t> visits_;
  std::vector<double> value_sum_, best_;
  std::vector<Raised> raised_;
  std::size_t existing_ = 0;
  std::vector<std::int32_t> by_reward_, place_;  // vertices ascending by reward, and the inverse
  std::vector<std::int32_t> counts_;             // Fenwick tree over the places of those existing
};

// What selection at a vertex compares (TAG 4.2.2): U = Q + c G sqrt(sum N) / (1 + N), with Q as the
// options see it (normalised, first play), and G times a person's weight. One row a child that
// exists at the replay's step, in order of expansion, then the next action to open, if any (child
// -1; its action is -1 where the tree does not tell which it was). Between the back-ups of a batch
// the search also counted the leaves that it waited for as visits.
struct PuctRow {
  std::int32_t child = -1, action = -1;
  std::int32_t visits = 0;
  double value = 0;        // Q, a reward
  double normalised = 0;   // Q as it enters U
  float prior = 0;         // G
  double exploration = 0;  // the second term
  double score() const { return normalised + exploration; }
};
std::vector<PuctRow> puct_rows(const TreeReplay& replay, std::int32_t vertex,
                               const TreeSearchOptions& options);

}  // namespace strato
