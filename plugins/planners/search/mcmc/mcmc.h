// FlexFlow's search (Jia, Zaharia & Aiken 2018, "Beyond data and model parallelism for deep neural
// networks", section 6.2): Markov chains over the configurations of op groups. A proposal gives a
// random group a random configuration; it is accepted with probability min(1, exp(beta (old -
// new))), costs being step times over data parallelism's. Chains start from the strategies that
// exist and from random ones. A chain ends when half of its time brought no improvement, the search
// when half of its budget brought none. The evaluator simulates neighbours incrementally, as
// section 5.3 of the paper does.
//
// Beyond the paper: all chains run side by side on one budget, and those that are behind are given
// up when a quarter and when half of it is spent; while nothing is accepted, a chain's next
// proposals are evaluated together. Both depend on counts alone, never on threads.
#pragma once

#include "core/plugin/api/planner_function.h"

namespace strato::mcmc {

struct Settings {
  double beta = 2000;
  int restarts = 1;
  bool per_op = false;

  OptionTable option_table();
};

// The planner "mcmc".
PlanResult plan(const PlanRequest& request, const Settings& settings);

}  // namespace strato::mcmc
