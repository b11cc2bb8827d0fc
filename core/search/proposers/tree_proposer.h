// The tree as a proposer (TAG 4.2.2): leaves are collected under virtual visits, evaluated
// together, and backed up in the order in which they were collected. A strategy that the tree knows
// is backed up at once, at no cost.
#pragma once

#include <cstdint>
#include <vector>

#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/known_rewards.h"
#include "core/search/mcts/prior.h"
#include "core/search/proposers/incumbent.h"
#include "core/search/proposers/proposer.h"

namespace strato {

// A strategy as the tree sees it becomes the incumbent where it is better, and not excluded.
void consider(const GrowingTree& tree, const Finishing& finishing, const ActionVector& actions,
              const Score& score, Incumbent& incumbent);

class TreeProposer final : public Proposer {
 public:
  // Refers to all of them.
  TreeProposer(const Problem& problem, const ActionTable& table, const TreeSearchOptions& options,
               PriorProvider& prior, const Finishing& finishing, GrowingTree& tree,
               KnownRewards& rewards, Incumbent& incumbent);

  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;

  // The first leaf, before all others.
  Strategy root() const { return finishing_.seen_by_tree(tree_.completed_actions(0)); }
  void accept_root(const Score& score);

 private:
  struct Leaf {
    std::int32_t node;
    std::size_t evaluation;  // place in the batch
  };
  struct Batch {
    std::vector<Leaf> leaves;
    std::vector<ActionVector> fresh;  // strategies to evaluate
    // Known ones, of vertices that need a prior: their scores are asked for again, behind the
    // fresh ones, and cost no iteration.
    std::vector<ActionVector> again;
    std::vector<std::size_t> is_again;  // leaves whose evaluation counts from there
    std::size_t repeats = 0;
  };
  Batch collect(std::size_t want);
  bool wants_prior(std::int32_t leaf) const;
  void ask_priors(const std::vector<Leaf>& leaves, std::span<const Score> scores);

  const Problem& problem_;
  const ActionTable& table_;
  const TreeSearchOptions& options_;
  PriorProvider& prior_;
  const Finishing& finishing_;
  GrowingTree& tree_;
  KnownRewards& rewards_;
  Incumbent& incumbent_;
  // Of the last proposal: what its scores are backed up to.
  std::vector<Leaf> leaves_;
  std::vector<ActionVector> strategies_;
};

}  // namespace strato
