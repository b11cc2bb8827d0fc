// A running tree search: the scheduler that hands out turns to its proposers (proposer.h),
// evaluates what they propose, and tells the observer. Turns depend on what is stored alone, so
// that a search that is resumed takes the same ones. One search each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/proposers/local_proposers.h"
#include "core/search/proposers/special_proposers.h"
#include "core/search/proposers/tree_proposer.h"

namespace strato {

class Portfolio {
 public:
  // Refers to all of them. `prior`: null: uniform. The steering of the tree that it goes on from is
  // obeyed.
  Portfolio(const PlanRequest& request, const TreeSearchOptions& options, PriorProvider* prior);

  PlanResult run();

 private:
  std::vector<Score> evaluate(std::span<const Strategy> strategies, std::size_t repeated = 0);
  Score evaluate(const Strategy& strategy) { return evaluate(std::span(&strategy, 1)).front(); }
  void evaluate_root();
  void evaluate_seeds();

  std::int64_t iterations() const { return tree_iterations_ + local_iterations_; }
  std::size_t next_want(std::int64_t limit) const;
  bool is_local_turn(std::size_t want) const;
  bool may_improve_locally() const {
    return search_.incumbent.exists() && !search_.tree.has_focus();
  }
  std::size_t take_turn(Proposer& proposer, std::size_t most, std::int64_t& iterations,
                        std::int64_t round = 0);
  std::size_t local_turn(std::size_t want);
  std::size_t roll_out_turn(std::size_t want);
  bool is_unfinished_turn() const;

  Progress progress() const;
  std::shared_ptr<const SearchTree> snapshot();
  std::string note() const;
  PlanResult result();
  std::array<Proposer*, 6> stored() {  // those whose state is stored, but for the second search
    return {&leaves_, &packings_, &roll_outs_, &finishings_, &space_, &improvements_};
  }

  // Going on from a stored tree, with new wishes of a person or without (portfolio_resume.cpp).
  void restore(const SearchTree& tree);
  void restore_incumbent(const ActionVector& stored, bool pins_changed);
  void restore_aside(const Candidate& aside);
  void restore_unfinished(const SearchState& state);
  void bar(const Candidate& candidate);
  void recall();
  bool is_allowed(const ActionVector& actions) const;

  const PlanRequest& request_;
  Reporter report_;
  const std::vector<Strategy> seeds_;  // those whose decisions the search can take over
  RunningSearch search_;
  TreeProposer leaves_{search_};
  PackingProposer packings_{search_};
  PriorProposer roll_outs_{search_};
  FinishingProposer finishings_{search_};
  UnfinishedProposer unfinished_{search_};
  SpaceProposer space_{search_};
  LocalProposer improvements_{search_};
  Candidate barred_;  // the best of before that pins or excluded branches do not allow now
  std::uint64_t pinned_since_ = 0;  // back-ups before the pins became what they are
  std::int64_t tree_iterations_ = 0, local_iterations_ = 0, evaluations_ = 0;
};

}  // namespace strato
