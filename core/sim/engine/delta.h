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

#include <cstdint>
#include <memory>

#include "core/program/lower/lower.h"
#include "core/sim/engine/replay.h"
#include "core/sim/engine/simulate.h"
#include "core/sim/memory/memory_account.h"

namespace strato {

class DeltaEvaluator {
 public:
  DeltaEvaluator(std::shared_ptr<const Graph> graph, std::shared_ptr<const Grouping> grouping,
                 std::shared_ptr<const Cluster> cluster, std::shared_ptr<const CostModel> cost)
      : full_(graph, grouping, cluster, cost), lowering_(graph, grouping, cluster, cost) {}

  struct Result : SimulatedStep {
    bool full = true;         // not from the strategy before
    std::size_t tasks = 0;    // of the program
    std::size_t lowered = 0;  // tasks made anew or with other dependencies
  };
  const Result& evaluate(const CompleteStrategy& strategy);
  const Result& result() const { return result_; }
  // Will evaluate() most likely use what it has? False before the first one.
  bool is_near(const CompleteStrategy& strategy) const { return lowering_.is_near(strategy); }

  Feedback feedback() const;
  // The whole program and timeline, as a full run would make them: for people, not for searches.
  Timeline timeline();

 private:
  // What the last result is of. Nothing: there is none, or an exception left it half done.
  enum class Last : std::uint8_t {
    Nothing,
    Anew,     // lowered anew into the store
    Delta,    // the store after a change
    Outside,  // not by delta lowering: all is in timeline_
  };
  void evaluate_outside(const CompleteStrategy& strategy);
  void take_replay(const DeltaLowering::Change& change);

  Lowering full_;
  DeltaLowering lowering_;
  Simulator simulator_;
  Replay replay_;
  MemoryAccount memory_;
  Last last_ = Last::Nothing;
  Timeline timeline_;                 // of Outside
  std::shared_ptr<Program> program_;  // of Outside
  Result result_;
};

}  // namespace strato
