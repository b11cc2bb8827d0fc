// Roll-outs of the prior: whole strategies that it decides from the first group to the last, with
// no evaluation in between. Where it has learned what good ones look like, local improvement begins
// there.
#pragma once

#include <cstdint>
#include <vector>

#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/prior.h"
#include "core/search/proposers/incumbent.h"
#include "core/search/proposers/proposer.h"

namespace strato {

class PriorProposer final : public Proposer {
 public:
  // Refers to all of them.
  PriorProposer(const Problem& problem, const ActionTable& table, std::uint64_t seed,
                PriorProvider& prior, const Finishing& finishing, const GrowingTree& tree,
                Incumbent& incumbent)
      : problem_(problem),
        table_(table),
        seed_(seed),
        prior_(prior),
        finishing_(finishing),
        tree_(tree),
        incumbent_(incumbent) {}

  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;

 private:
  std::vector<ActionVector> roll_out(std::size_t count);

  const Problem& problem_;
  const ActionTable& table_;
  const std::uint64_t seed_;
  PriorProvider& prior_;
  const Finishing& finishing_;
  const GrowingTree& tree_;
  Incumbent& incumbent_;
  std::vector<Candidate> candidates_;  // of the last proposal
};

}  // namespace strato
