// Algorithm 1 of AutoDist: sample, score, reject below the fidelity level, choose by score and
// diversity, try, learn.
//
// Beyond the paper, each switchable: a part of the proposals are local changes of the best plans so
// far and crossings of two of them (`changes`), and the builders' plans teach the simulator and are
// changed like others (`known`). Deterministic in (task, options, seed, numbers of trials a round,
// what trials showed). One thread, but for what the trial source does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/tree/search_tree.h"
#include "plugins/planners/learned/autodist/search/ranker.h"
#include "plugins/planners/learned/autodist/search/sampler.h"

namespace strato::autodist {

// Runs strategies and says how they did: in the simulator, or on real workers. One that fails is
// infeasible.
using TrialSource = std::function<std::vector<Score>(std::span<const Strategy>)>;

struct SearchOptions {
  bool learned = true;     // false: the guided sampler alone ("Random+G")
  bool known = true;       // plans from before the first round are known
  double changes = 0.7;    // part of a round's trials that are changes of good plans
  int proposals = 160;     // a round, of which a few are tried
  double diversity = 0.3;  // against scores
  double accuracy = 0.8;   // of ranking, below the fidelity level
  int steps = 30;          // of learning a round
  SamplerOptions sampler;
  RankerOptions ranker;
};

struct PlanTrial {
  SyncPlan plan;
  Score score;
  PlanFeatures features;         // where something learns
  std::optional<double> judged;  // its score before it was tried
  std::int64_t round = -1;       // -1: before the first round
  bool hit = false;              // better than the best builder
  std::uint64_t kind = 0;        // kind_of(plan)
  std::string builder = {};      // that made it; empty: none
};

struct RoundFigures {
  std::optional<double> accuracy;  // of ranking this round's trials beforehand
  bool level = false;              // whether there was a fidelity level
  std::size_t rejected = 0;        // proposals below it
};

// The history of a search, in order.
struct SearchHistory {
  std::vector<PlanTrial> trials;  // those from before the first round first
  std::vector<RoundFigures> rounds;
  std::string best_builder;
  std::optional<Score> best_builder_score;
};

class Search {
 public:
  Search(const SyncTask& task, const SearchOptions& options, TrialSource trials,
         std::uint64_t seed);

  // Plans to begin with, at most `most` of those that are new: they are learned from and changed as
  // the search's own are. Those with a name are builders'. False: none was new.
  bool try_plans(std::vector<BuiltPlan> plans, std::size_t most);
  bool has_seen(const SyncPlan& plan) const;
  // In place of a best builder of its own.
  void compare_with(const std::string& builder, const Score& score);
  // One round of at most `count` trials. False: there was nothing new to try.
  bool play_round(std::size_t count);

  const PlanTrial& best() const { return trials()[best_]; }
  bool has_best() const { return !trials().empty(); }
  const SearchHistory& history() const { return history_; }
  const std::optional<Score>& best_builder_score() const { return history_.best_builder_score; }
  const std::vector<PlanTrial>& trials() const { return history_.trials; }
  const std::vector<RoundFigures>& rounds() const { return history_.rounds; }
  std::function<void(const PlanTrial&)> found;  // called whenever the best changes

 private:
  // Proposals are trials without a score; they are judged where something learns.
  std::vector<PlanTrial> propose(std::size_t count, Random& random);
  std::vector<std::size_t> good_ones(std::size_t most) const;
  SyncPlan changed(std::span<const std::size_t> good, Random& random) const;
  void judge(std::vector<PlanTrial>& proposals) const;
  void reject(std::vector<PlanTrial>& proposals, std::size_t count, RoundFigures& figures) const;
  std::vector<PlanTrial> choose(std::vector<PlanTrial> proposals, std::size_t count) const;
  void try_all(std::vector<PlanTrial> proposals, std::int64_t round);
  bool claim(const SyncPlan& plan);  // false: it was tried or proposed before
  void keep(PlanTrial trial);
  void learn(Random& random);

  const SyncTask& task_;
  const SearchOptions options_;
  const TrialSource run_;
  const std::uint64_t seed_;
  const Featurizer featurizer_;
  std::unique_ptr<Ranker> ranker_;
  SearchHistory history_;
  std::size_t best_ = 0;
  std::unordered_set<Digest> seen_;
  std::optional<std::size_t> level_;  // the trial whose score is the fidelity level
};

// Seconds, or what is missing in memory on top of a long time: for comparing only.
double cost_of(const Score& score);

// ---- A search reports about itself: its curves in numbers (AutoDist Fig. 4 and 9). Histories have
// a best builder.

// Part of the trials (of rounds) that were better than the best builder; nothing: there were no
// trials.
std::optional<double> hit_rate(std::span<const PlanTrial> trials);

std::string note_of(const SearchHistory& history);
std::vector<PlanResult::Fact> facts_of(const SearchHistory& history, const SyncTask& task);
// Over trials: how many of them beat the best builder, and by how much the best did (Fig. 9). And
// of each fifth of the trials ("1/5" to "5/5") how well they were ranked beforehand, by quarters of
// all trials from slow to fast (Fig. 4; the paper asks a simulator that has learned from the phase
// about trials that it never sees). A point without a pair to rank is left out, and a curve without
// points.
std::vector<PlanResult::Curve> curves_of(const SearchHistory& history);

// ---- The record of what the trials of a search showed, in order: enough to go on where it was
// interrupted, since all else follows from the seed. It travels as the record of a SearchTree of
// one vertex (PlanResult::tree), which is what a workspace keeps of an unfinished run.

// Returns the record of `resume`; a new one where that is null. `options` have to be the same to go
// on. Throws InputError when they are others, when it is of another planner, or damaged.
EvaluationRecord record_for(const std::string& options, const SearchTree* resume);
std::int64_t trials_in(const EvaluationRecord& record);
std::shared_ptr<const SearchTree> tree_of(const EvaluationRecord& record, const Problem& problem,
                                          std::uint64_t seed);

// For a record whose trials another search than this one made.
[[noreturn]] void refuse_trials();

// Answers from the record first, then from `inner`, whose answers are added to the record. Refers
// to it.
class RecordedTrials {
 public:
  RecordedTrials(EvaluationRecord& record, TrialSource inner)
      : record_(record), inner_(std::move(inner)), replayed_(record.batches.size()) {}

  std::vector<Score> run(std::span<const Strategy> strategies);
  // Trials of the next batch that is known already; 0: there is none.
  std::size_t next_known() const { return at_ < replayed_ ? record_.batches[at_].size() : 0; }

 private:
  EvaluationRecord& record_;
  TrialSource inner_;
  const std::size_t replayed_;
  std::size_t at_ = 0;
};

}  // namespace strato::autodist
