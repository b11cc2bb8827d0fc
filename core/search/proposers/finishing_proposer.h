// Whether finishing is good for the search at all, and what it is worth where it is not. Where it
// gains little at the outset, it misleads more than it helps: it makes good what is better done
// otherwise, and other decisions of its groups look worse than they are. Then the search goes on
// unfinished, and its incumbent is finished now and then without going on from there.
#pragma once

#include <vector>

#include "core/search/mcts/growing_tree.h"
#include "core/search/proposers/incumbent.h"
#include "core/search/proposers/proposer.h"

namespace strato {

class FinishingProposer final : public Proposer {
 public:
  // Refers to all of them.
  FinishingProposer(Finishing& finishing, const GrowingTree& tree, Incumbent& incumbent)
      : finishing_(finishing), tree_(tree), incumbent_(incumbent) {}

  // Before the first iteration the tree's best strategies unfinished; in every twelfth round of a
  // search that goes on unfinished its incumbent, finished in all groups and in single ones.
  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;

 private:
  void compare_unfinished(std::size_t most);
  void finish_incumbent(std::size_t most);
  void decide(std::span<const Score> scores);

  Finishing& finishing_;
  const GrowingTree& tree_;
  Incumbent& incumbent_;
  bool compares_ = false;              // the last proposal did, and did not finish the incumbent
  std::vector<Candidate> candidates_;  // of the last proposal
};

}  // namespace strato
