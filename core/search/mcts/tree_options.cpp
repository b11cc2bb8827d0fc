#include "core/search/mcts/tree_options.h"

namespace strato {

// As the paper has it, where it says; even shares and whole device groups only.
void TreeSearchOptions::follow_paper() {
  paper = true;
  normalise = relative_prior = max_backup = first_play = false;
  free_repeats = follow_first = graded_overflow = order_by_cost = false;
  bounds = sieve = decide = false;
  root_mix = widening = noise = polish = 0;
  actions.proportional_shares = actions.single_devices = actions.part_groups = false;
}

OptionTable TreeSearchOptions::option_table() {
  return {
      {"variant",
       paper,
       {"default", "paper"},
       "default, or paper: exactly TAG 4.2.2 (other keys override it)"},
      {"c", c, {0, 1e6}, "weight of exploration in PUCT"},
      {"normalise", normalise, "map values to [0, 1] over the tree"},
      {"low-quantile", low_quantile, {0, 0.99}, "quantile of the rewards that becomes 0"},
      {"relative-prior", relative_prior, "priors relative to a uniform one"},
      {"backup",
       max_backup,
       {"mean", "max"},
       "value of a vertex: mean or max of the rewards below"},
      {"first-play", first_play, "an unvisited action is worth its parent's value less fpu"},
      {"fpu", fpu, {-10, 10}, "see first-play"},
      {"root-mix", root_mix, {0, 1}, "part of the first group's prior that is uniform"},
      {"widening", widening, {0, 1e6}, "open actions <= widening * sqrt(visits); 0: all at once"},
      {"noise", noise, {0, 1e6}, "ranks by which the seed moves actions of equal prior"},
      {"free-repeats", free_repeats, "strategies known already cost no iteration"},
      {"follow-first", follow_first, "try the first group's decision first"},
      {"graded", graded_overflow, "infeasible: reward says how far over memory"},
      {"order",
       order_by_cost,
       {"compute", "cost"},
       "groups after the first: by compute and synchronisation, or by compute alone"},
      {"polish", polish, {0, 0.95}, "part of the evaluations spent on local improvement"},
      {"bounds", bounds, "few strategies: in the order of their bounds, until nothing is faster"},
      {"sieve", sieve,
       "local improvement evaluates nothing whose bound is no better (needs bounds)"},
      {"decide", decide, "strategies that a prior decides as a whole are tried (needs polish)"},
      {"batch", batch, {1, 4096}, "leaves evaluated together"},
      {"shares",
       actions.proportional_shares,
       {"even", "both"},
       "both: also shares in proportion to speed; even: equal shares only"},
      {"merge", actions.merge_symmetric, "merge symmetric device groups"},
      {"single-devices", actions.single_devices, "every device alone is an action"},
      {"part-groups", actions.part_groups, "half, a quarter... of a device group"},
      {"max-sets",
       actions.max_sets,
       {1, 65535},
       "most sets of device groups; above: plausible ones"},
  };
}

}  // namespace strato
