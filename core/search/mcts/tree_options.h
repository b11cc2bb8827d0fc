// What a tree search is given, its options and its prior, and the selection rule that they make.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/evaluate/actions.h"

namespace strato {

// As planners take them from --set.
struct TreeSearchOptions {
  double c = 0.2;         // weight of exploration in PUCT
  bool normalise = true;  // values between a low quantile and the best reward become [0, 1]
  double low_quantile = 0.25;
  bool relative_prior = true;  // G(s, a) times the number of actions, so that c suits any
  bool max_backup = false;     // Q is the best reward below instead of the mean
  bool first_play = true;      // an unvisited action is worth its parent's value - fpu, else 0
  double fpu = 0.1;
  // Part of the first group's prior that is uniform; its actions, which the other groups follow,
  // are opened by prior and by rank in turns: a prior that is sure of itself may be wrong.
  double root_mix = 0.9;
  double widening = 5;  // open actions <= widening * sqrt(visits); 0: all
  double noise = 3;     // ranks by which the seed moves actions of equal prior
  bool free_repeats = true;
  bool follow_first = true;
  bool graded_overflow = true;
  bool order_by_cost = true;  // after the first group: by compute and synchronisation together
  double polish = 0.75;       // part of the evaluations spent on local improvement
  bool bounds = true;         // few strategies: in the order of their bounds (bound_use.h)
  bool decide = true;         // local improvement may begin at what the prior decides as a whole
  bool sieve = false;         // local improvement leaves out whose bound is no better (bound_use.h)
  int batch = 8;
  ActionOptions actions;
  // Decisions that groups keep, by PlannerOptions::constraints (tree_search() fills it in); empty:
  // none. All else that is demanded is up to the evaluator, which repairs what it is asked about.
  IdVector<GroupId, std::optional<Decision>> pins;
  // Applied to every complete strategy before it is evaluated or returned; deterministic, and only
  // a function of the strategy. Empty: nothing is done.
  std::function<void(Strategy&)> finish;
  // False: the tree looks at finished strategies, but the best ones are tried without `finish`,
  // too, as a whole and group by group. Then `finish` only adds to Strategy::duplicated.
  bool finish_always = true;

  bool paper = false;  // variant=paper: what the paper says; other keys override it
  void follow_paper();
  OptionTable option_table();
  static TreeSearchOptions from(const PlannerOptions& given) {
    return read_options<TreeSearchOptions>(given.set);
  }
};

struct PriorQuery {
  const Strategy& partial;
  GroupId next;  // the group that the prior is asked for
  // Of the completed partial strategy; with feedback when the evaluator gives it.
  const Score& score;
};

// The prior of a tree search (TAG 4.2.2): how probable it is that an action is the right one for
// the next group, G(s, a). Not thread-safe. A search without one has uniform priors.
class PriorProvider {
 public:
  virtual ~PriorProvider() = default;
  // One row of actions.size() non-negative numbers a query; an empty row means uniform.
  // Deterministic.
  virtual std::vector<std::vector<float>> priors(const Problem& problem,
                                                 const std::vector<Decision>& actions,
                                                 std::span<const PriorQuery> queries) = 0;
};

// The selection rule's terms (TAG 4.2.2), shared by the search and by those who show it:
//   U(s, a) = Q(s, a) + c G(s, a) sqrt(sum N) / (1 + N(s, a)).

// Maps values to what enters U: between a low quantile of all rewards and the best one to [0, 1],
// with -1 as the least; or not at all.
class ValueScale {
 public:
  // `reward(place)`: the place-th smallest of `count` rewards.
  template <class Reward>
  ValueScale(std::size_t count, Reward&& reward, const TreeSearchOptions& options)
      : on_(options.normalise && count > 0) {
    if (!on_) return;
    const auto at = static_cast<std::size_t>(options.low_quantile * static_cast<double>(count));
    low_ = reward(std::min(at, count - 1));
    high_ = reward(count - 1);
  }
  double operator()(double value) const {
    if (!on_) return value;
    if (high_ - low_ < 1e-9) return value >= high_ ? 1 : 0;
    return std::clamp((value - low_) / (high_ - low_), -1.0, 1.0);
  }

 private:
  bool on_;
  double low_ = 0, high_ = 0;
};

// c G sqrt(sum N) / (1 + N), with G times a person's weight.
inline double exploration(const TreeSearchOptions& options, std::size_t actions, double prior,
                          double parent_visits, double visits) {
  const double scale = options.relative_prior ? static_cast<double>(actions) : 1.0;
  return options.c * scale * prior * std::sqrt(std::max(parent_visits, 1.0)) / (1 + visits);
}

// Whether progressive widening lets a vertex with so many visits open one more action.
inline bool may_widen(const TreeSearchOptions& options, double visits, std::size_t open) {
  return options.widening <= 0 ||
         static_cast<double>(open) <
             std::max(1.0, options.widening * std::sqrt(std::max(visits, 1.0)));
}

}  // namespace strato
