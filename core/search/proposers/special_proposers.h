// Proposers for what is special about some problems: few strategies, too little memory, finishing
// that may not be worth it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/search/local/bound_use.h"
#include "core/search/proposers/proposer.h"

namespace strato {

// All strategies of a problem with few of them, as they are unfinished, in the order of their
// bounds (bound_use.h), until nothing that is left can be better. The space is listed on its
// first turn.
class SpaceProposer final : public Proposer {
 public:
  using Proposer::Proposer;
  // All others have bounds that are no better than the incumbent.
  bool is_proven() const { return proven_; }
  // Nothing where the space is not small, or while a person excludes some of it, who may think
  // better of it when their turn is over.
  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override { state.space_next = next_; }
  void restore(const SearchState& state) override { next_ = state.space_next; }

 private:
  void find_places(std::size_t most);

  std::unique_ptr<const SmallSpace> space_;
  std::uint64_t next_ = 0;  // place in the space
  bool proven_ = false;
  std::vector<std::size_t> places_;  // of the last proposal
};

// Strategies that spread memory (memory_estimate.h), once, where nothing fits: from there on to
// more aggressive model parallelism (TAG 3.3). A handful of evaluations that are no iterations.
class PackingProposer final : public Proposer {
 public:
  using Proposer::Proposer;
  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override { state.packed = packed_; }
  void restore(const SearchState& state) override { packed_ = state.packed; }

 private:
  bool packed_ = false;
};

// Whether finishing is good for the search at all, and what it is worth where it is not. Where it
// gains little at the outset (two per cent), it misleads more than it helps: it makes good what is
// better done otherwise, and other decisions of its groups look worse than they are. Then the
// search goes on unfinished, and its incumbent is finished now and then without going on from
// there.
class FinishingProposer final : public Proposer {
 public:
  using Proposer::Proposer;
  // Before the first iteration the tree's best strategies unfinished; in every twelfth round of a
  // search that goes on unfinished its incumbent, finished in all groups and in single ones.
  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;

 private:
  void compare_unfinished(std::size_t most);
  void finish_incumbent(std::size_t most);
  void decide(std::span<const Score> scores);

  bool compares_ = false;  // the last proposal did, and did not finish the incumbent
};

}  // namespace strato
