// Local improvement of the incumbent as a proposer: changes of a few groups (local_search.h), and,
// where a search chooses which groups it finishes, the incumbent itself finished otherwise: all
// groups at once, or one.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/search/local/bound_use.h"
#include "core/search/local/local_search.h"
#include "core/search/mcts/growing_tree.h"
#include "core/search/mcts/known_rewards.h"
#include "core/search/proposers/incumbent.h"
#include "core/search/proposers/proposer.h"

namespace strato {

class LocalProposer final : public Proposer {
 public:
  // Refers to all but `search`. There has to be an incumbent when it has a turn.
  LocalProposer(LocalSearch search, const ActionTable& table, std::size_t batch,
                const Finishing& finishing, const GrowingTree& tree, const KnownRewards& rewards,
                BoundUse& bounds, Incumbent& incumbent);
  LocalProposer(const LocalProposer&) = delete;
  LocalProposer& operator=(const LocalProposer&) = delete;

  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override;
  void restore(const SearchState& state) override;

 private:
  bool is_forbidden(const ActionVector& actions);
  bool chooses_finishing() const {
    return finishing_.is_chosen() && !finishing_.is_left_to_others();
  }
  std::optional<LocalSearch::Start> next_start(const std::set<std::int64_t>& used) const;
  std::optional<GroupFlags> finished_otherwise(std::int64_t round);
  void add_proposals(const std::vector<ActionVector>& proposals);
  void follow_incumbent();

  LocalSearch search_;
  const ActionTable& table_;
  const std::size_t batch_;
  const Finishing& finishing_;
  const GrowingTree& tree_;
  const KnownRewards& rewards_;
  BoundUse& bounds_;
  Incumbent& incumbent_;
  std::int64_t version_ = 0;  // of the incumbent that the search is at
  // The last proposal: those of the search, and the incumbent finished otherwise behind them.
  std::vector<Candidate> candidates_;
  std::size_t from_search_ = 0;
};

}  // namespace strato
