// A small space as a proposer: all strategies of a problem with few of them, as they are
// unfinished, in the order of their bounds (small_space.h), until nothing that is left can be
// better.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/search/local/bound_use.h"
#include "core/search/local/small_space.h"
#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/known_rewards.h"
#include "core/search/proposers/incumbent.h"
#include "core/search/proposers/proposer.h"

namespace strato {

class SpaceProposer final : public Proposer {
 public:
  // Lists the space on its first turn; it may be told to stop, and calls `beat` meanwhile.
  using List = std::function<std::unique_ptr<const SmallSpace>()>;
  // Refers to all but `list`.
  SpaceProposer(List list, const Finishing& finishing, const GrowingTree& tree,
                const KnownRewards& rewards, BoundUse& bounds, Incumbent& incumbent)
      : list_(std::move(list)),
        finishing_(finishing),
        tree_(tree),
        rewards_(rewards),
        bounds_(bounds),
        incumbent_(incumbent) {}

  // All others have bounds that are no better than the incumbent.
  bool is_proven() const { return proven_; }
  // Nothing where the space is not small, or while a person excludes some of it, who may think
  // better of it when their turn is over.
  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override { state.space_next = next_; }
  void restore(const SearchState& state) override { next_ = state.space_next; }

 private:
  std::vector<std::size_t> next_places(std::size_t most);

  const List list_;
  const Finishing& finishing_;
  const GrowingTree& tree_;
  const KnownRewards& rewards_;
  BoundUse& bounds_;
  Incumbent& incumbent_;
  std::unique_ptr<const SmallSpace> space_;
  std::uint64_t next_ = 0;  // place in the space
  bool proven_ = false;
  std::vector<std::size_t> places_;  // of the last proposal
};

}  // namespace strato
