// Strategies that spread memory (memory_estimate.h), once, where nothing fits: from there on to
// more aggressive model parallelism (TAG 3.3). A handful of evaluations that are no iterations.
#pragma once

#include <vector>

#include "core/search/mcts/growing_tree.h"
#include "core/search/proposers/incumbent.h"
#include "core/search/proposers/proposer.h"

namespace strato {

class PackingProposer final : public Proposer {
 public:
  // Refers to all of them.
  PackingProposer(const Problem& problem, const ActionTable& table, const Finishing& finishing,
                  const GrowingTree& tree, Incumbent& incumbent)
      : problem_(problem),
        table_(table),
        finishing_(finishing),
        tree_(tree),
        incumbent_(incumbent) {}

  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override { state.packed = packed_; }
  void restore(const SearchState& state) override { packed_ = state.packed; }

 private:
  const Problem& problem_;
  const ActionTable& table_;
  const Finishing& finishing_;
  const GrowingTree& tree_;
  Incumbent& incumbent_;
  bool packed_ = false;
  std::vector<ActionVector> packings_;  // of the last proposal
};

}  // namespace strato
