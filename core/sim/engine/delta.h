// Delta evaluation: the step time, memory and feedback of a strategy from those of the one before,
// when they differ in some groups. Bit-identical to Simulator::simulate(Lowering::lower(strategy)),
// first in first out on exclusive resources, and several times faster when little changed: see
// core/program/delta/delta_lower.h for what is lowered again and core/sim/engine/replay.h for how
// times follow.
//
// Use: evaluate() strategies of one problem in any order; neighbours one after another are fast.
// What is asked of result(), feedback() and timeline() is about the last one. Any strategy may come
// next: when too much differs, or it has buckets or priorities, it is evaluated in full, which
// takes somewhat longer than without this class. Not thread safe: one per thread. Throws what
// lowering throws (InvariantError); the next evaluate() then starts anew.
#pragma once

#include <memory>

#include "core/cost/value/cost_model.h"
#include "core/graph/group/grouping.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/timeline/feedback.h"
#include "core/strategy/value/strategy.h"

namespace strato {

class DeltaEvaluator {
 public:
  DeltaEvaluator(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                 std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost);
  ~DeltaEvaluator();

  struct Result : SimulatedStep {
    bool full = true;         // not from the strategy before
    std::size_t tasks = 0;    // of the program
    std::size_t lowered = 0;  // tasks made anew or with other dependencies
  };
  const Result& evaluate(const CompleteStrategy& strategy);
  const Result& result() const;
  // Will evaluate() most likely use what it has? False before the first one.
  bool is_near(const CompleteStrategy& strategy) const;

  Feedback feedback() const;
  // The whole program and timeline, as a full run would make them: for people, not for searches.
  Timeline timeline() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace strato
