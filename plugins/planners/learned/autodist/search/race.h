// Searches on several choices of the devices that hold replicas, side by side: one decides about
// the variables there, the race about which of them gets the next trials.
//
// First hand-designed builders run on the first choice, which are what all is compared with; then a
// few likely plans on every choice, then those that did not fit at first. From there on a choice
// gets a round as often as its place among them, by the best that it has shown, makes it due: the
// second a fourth as often as the first, the third a ninth. So a choice that was judged too badly
// at first gets its turn, and no budget has to be known. Deterministic as Search is.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plugins/planners/learned/autodist/search/search.h"

namespace strato::autodist {

// ---- The graph config of AutoDist's representation (2.2): which devices hold replicas, and how
// much of the batch each of them has; and plans to begin with on each of them.

// Data parallel on the fastest 2, 3, 4, 6, 8, 12, ... devices, machine by machine, on as many whole
// machines, and on those of the fastest GPU types alone: fewer than all of them, ascending by their
// number.
std::vector<Strategy> on_fewer_devices(const Problem& problem);

// Data parallel with AllReduce, without node configs, none twice: equal shares on all devices,
// first; shares by speed; those of complete strategies that are known; with `fewer` those of fewer
// devices.
std::vector<Strategy> replications_of(const Problem& problem, std::span<const Strategy> known,
                                      bool fewer);

// What a strategy that the caller knows already (PlannerOptions::seeds) says of each variable;
// nothing: it is no plan on the task's base, or has what the sampler does not make (an order of the
// ring, sufficient factors).
std::optional<SyncPlan> plan_of(const SyncTask& task, const Strategy& strategy);

// Plans of the kinds that a search finds: gradients in messages of 64 MB, and none, the first half
// to have a gradient, or all of the larger variables kept in parts.
std::vector<SyncPlan> likely_plans(const SyncTask& task, const SamplerOptions& sampler);

// ---- The race.

class Race {
 public:
  struct Options {
    SearchOptions search;
    bool rows = true;         // see SyncTask
    std::size_t trials = 10;  // a round, at most
    std::uint64_t seed = 1;
  };
  // `choices`: data parallel, none twice, at least one. `known`: complete strategies; those that
  // are plans on a choice are among the first that are tried there.
  Race(const Problem& problem, const std::vector<Strategy>& choices, std::vector<Strategy> known,
       const Options& options, const TrialSource& trials);
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;

  // Runs the next batch of trials, at most `most` (of at least one). False: there is nothing new to
  // try.
  bool play(std::size_t most);

  bool has_best() const { return best_ != nullptr; }
  const PlanTrial& best() const { return best_->search.best(); }
  const SyncTask& best_task() const { return best_->task; }
  Strategy best_strategy() const { return strategy_of(best_->task, best().plan); }
  std::function<void()> found;  // called whenever the best changes

  // The best before the rounds on the choice that is best now, and on the first; nothing: that has
  // not been begun.
  const std::optional<Score>& best_began_with() const { return best_->began_with; }
  const std::optional<Score>& first_began_with() const { return lanes_.front()->began_with; }
  // Returns the trials of all searches, in the order in which they were tried; without features.
  SearchHistory history() const;

 private:
  struct Lane {
    Lane(const Problem& problem, const Strategy& choice, const Options& options,
         const TrialSource& trials);
    const SyncTask task;
    Search search;
    std::optional<Score> began_with;
    bool begun = false, over = false;  // over: there is nothing new to try
    bool cut = false;                  // not all plans fitted that it begins with
    std::int64_t turns = 0;            // rounds
  };
  struct Batch {
    const Lane* lane;
    std::size_t first, end;  // trials of it
  };
  std::vector<BuiltPlan> plans_for(const Lane& lane) const;
  bool begin(Lane& lane, std::size_t most);
  Lane* next_lane();
  template <class Try>
  bool record(Lane& lane, const Try& try_some);

  const Options options_;
  const std::vector<Strategy> known_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  const Lane* best_ = nullptr;
  std::vector<Batch> batches_;
};

}  // namespace strato::autodist
