// A comparison in a sentence or two.
#pragma once

#include <string>

#include "core/compare/compare_plans.h"
#include "core/compare/plan_matrix.h"

namespace strato {

std::string sentence_of(const PlanComparison& comparison);
// "heft is the fastest of 3 plans: 182 ms a step. mcts takes 12 % longer, data parallel 31 %." Of
// other batches: by sample.
std::string sentence_of(const PlanMatrix& matrix);

}  // namespace strato
