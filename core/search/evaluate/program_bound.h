// A bound of what a strategy's step takes that lowering alone gives, without simulating: the
// longest path through the program's tasks, and the work of its busiest resource (on exclusive
// links).
//
// It holds for what the simulator makes of the strategy; not for times that are measured, nor where
// an evaluator adds to strategies. One thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "core/program/lower/lower.h"
#include "core/program/place/symmetry.h"
#include "core/search/api/problem.h"

namespace strato {

class ProgramBound {
 public:
  explicit ProgramBound(const Problem& problem)
      : cluster_(problem.cluster),
        lowering_(problem.graph, problem.grouping, problem.cluster, problem.cost) {}

  Nanos of(const Strategy& strategy);

 private:
  std::shared_ptr<const Cluster> cluster_;
  Lowering lowering_;
  Program program_;  // its arrays, and those below, are reused
  Fold fold_;
  std::vector<Nanos> ends_;  // by task
  std::vector<Nanos> busy_;  // by resource
};

}  // namespace strato
