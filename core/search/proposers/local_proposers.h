// Local improvement as proposers: changes of a few groups (local_search.h) of the incumbent, and of
// a strategy of its own that is not finished.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/search/local/local_search.h"
#include "core/search/proposers/proposer.h"

namespace strato {

// Improves the incumbent, and, where a search chooses which groups it finishes, also finishes it
// otherwise: all groups at once, or one. There has to be an incumbent when it has a turn.
class LocalProposer final : public Proposer {
 public:
  explicit LocalProposer(RunningSearch& search);

  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override;
  void restore(const SearchState& state) override { local_.restore(state.local); }

 private:
  bool is_forbidden(const ActionVector& actions);
  bool chooses_finishing() const;
  std::optional<LocalSearch::Start> next_start(const std::set<std::int64_t>& used) const;
  std::optional<GroupFlags> finished_otherwise(std::int64_t round);
  void add_candidates(const std::vector<ActionVector>& proposals);
  void follow_incumbent();

  LocalSearch local_;
  std::int64_t version_ = 0;  // of the incumbent that the search is at
  // The last proposal has those of the search, and the incumbent finished otherwise behind them.
  std::size_t from_search_ = 0;
};

// A second local search, in which nothing is finished: where finishing makes good what is better
// decided otherwise, no single change of the incumbent is better than it, while unfinished a few of
// them in a row are. Its own incumbent is tried finished, too, and where it is better than the
// best, the first local search goes on from there.
class UnfinishedProposer final : public Proposer {
 public:
  explicit UnfinishedProposer(RunningSearch& search);

  bool has_begun() const { return local_.has_incumbent(); }
  const ActionVector& actions() const { return local_.incumbent(); }  // its incumbent

  Proposal propose(const Turn& turn) override;
  void accept(std::span<const Score> scores) override;
  void save(SearchState& state) override;
  // Of a state that has one, whose strategy is still allowed: else it begins anew. Then it needs
  // the score of that, unfinished.
  void restore(const SearchState& state) override;
  void begin_anew();
  void set_score(const Score& score) { local_.set_incumbent_score(score); }

 private:
  enum class Step { Begin, Finish, Improve };
  void start_from_incumbent(const Score& score);

  LocalSearch local_;
  bool tried_finished_ = false;  // its own incumbent was
  Step step_ = Step::Begin;      // of the last proposal
};

}  // namespace strato
