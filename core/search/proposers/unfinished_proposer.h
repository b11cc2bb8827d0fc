// A second local search, in which nothing is finished: where finishing makes good what is better
// decided otherwise, no single change of the incumbent is better than it, while unfinished a few of
// them in a row are. Its own incumbent is tried finished, too, and where it is better than the
// best, the first local search goes on from there.
#pragma once

#include <vector>

#include "core/search/local/bound_use.h"
#include "core/search/local/local_search.h"
#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/known_rewards.h"
#include "core/search/proposers/incumbent.h"
#include "core/search/proposers/proposer.h"

namespace strato {

class UnfinishedProposer final : public Proposer {
 public:
  // Refers to all but `search`.
  UnfinishedProposer(LocalSearch search, const ActionTable& table, std::size_t batch,
                     const Finishing& finishing, const GrowingTree& tree,
                     const KnownRewards& rewards, BoundUse& bounds, Incumbent& incumbent);
  UnfinishedProposer(const UnfinishedProposer&) = delete;
  UnfinishedProposer& operator=(const UnfinishedProposer&) = delete;

  bool has_begun() const { return search_.has_incumbent(); }
  const ActionVector& actions() const { return search_.incumbent(); }  // its incumbent

  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override;
  // Of a state that has one, whose strategy is still allowed: else it begins anew. Then it needs
  // the score of that, unfinished.
  void restore(const SearchState& state) override;
  void begin_anew();
  void set_score(const Score& score);

 private:
  enum class Step { Begin, Finish, Improve };
  void meet_incumbent();
  void improve(std::span<const Score> scores);

  LocalSearch search_;
  const ActionTable& table_;
  const std::size_t batch_;
  const Finishing& finishing_;
  const GrowingTree& tree_;
  BoundUse& bounds_;
  Incumbent& incumbent_;
  Score score_;                  // of its own incumbent
  bool tried_finished_ = false;  // its own incumbent was
  Step step_ = Step::Begin;      // of the last proposal
};

}  // namespace strato
