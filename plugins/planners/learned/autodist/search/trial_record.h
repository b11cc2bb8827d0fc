// The record of what the trials of a search showed, in order: enough to go on where it was
// interrupted, since all else follows from the seed. It travels as the record of a SearchTree of
// one vertex (PlanResult::tree), which is what a workspace keeps of an unfinished run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/learned/autodist/search/search.h"

namespace strato::autodist {

struct TrialRecord {
  std::string options;                      // has to be the same to go on
  std::vector<std::vector<Score>> batches;  // as they were tried together

  std::int64_t count() const;
  std::shared_ptr<const SearchTree> as_tree(const Problem& problem, std::uint64_t seed) const;
  // Throws InputError when the tree is of another planner, or damaged.
  static TrialRecord from_tree(const SearchTree& tree);
};

// For a record whose trials another search than this one made.
[[noreturn]] void refuse_trials();

// Answers from the record first, then from `inner`, whose answers are added to the record. Refers
// to it.
class RecordedTrials {
 public:
  RecordedTrials(TrialRecord& record, TrialSource inner)
      : record_(record), inner_(std::move(inner)), replayed_(record.batches.size()) {}

  std::vector<Score> run(std::span<const Strategy> strategies);
  // Trials of the next batch that is known already; 0: there is none.
  std::size_t next_known() const { return at_ < replayed_ ? record_.batches[at_].size() : 0; }

 private:
  TrialRecord& record_;
  TrialSource inner_;
  const std::size_t replayed_;
  std::size_t at_ = 0;
};

}  // namespace strato::autodist
