// The tree as a proposer (TAG 4.2.2), and the roll-outs of its prior.
#pragma once

#include <cstdint>
#include <vector>

#include "core/search/proposers/proposer.h"

namespace strato {

// Leaves are collected under virtual visits, evaluated together, and backed up in the order in
// which they were collected. A strategy that the tree knows is backed up at once, at no cost.
class TreeProposer final : public Proposer {
 public:
  using Proposer::Proposer;
  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;

 private:
  struct Leaf {
    std::int32_t node;
    std::size_t evaluation;  // place in the proposal
    // The strategy is known, but the vertex needs a prior: its score is asked for again, behind the
    // fresh ones, and costs no iteration.
    bool again;
  };
  bool wants_prior(std::int32_t leaf) const;
  std::size_t collect(std::size_t want, std::vector<Candidate>& again);
  void ask_priors(std::span<const Score> scores);

  std::vector<Leaf> leaves_;  // of the last proposal: what its scores are backed up to
};

// Roll-outs of the prior: whole strategies that it decides from the first group to the last, with
// no evaluation in between. Where it has learned what good ones look like, local improvement begins
// there.
class PriorProposer final : public Proposer {
 public:
  using Proposer::Proposer;
  Proposal propose(const Turn& turn) override;

 private:
  std::vector<ActionVector> roll_out(std::size_t count);
};

}  // namespace strato
