// The options of a tree search, as its planners take them from --set.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/search/api/planner.h"
#include "core/search/evaluate/actions.h"

namespace strato {

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
  bool bounds = true;         // few strategies: in the order of their bounds (small_space.h)
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

}  // namespace strato
