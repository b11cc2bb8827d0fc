// What a strategy is worth: beside data parallelism and beside the lower bound. Made by pure
// functions, which may take as long as two simulations; safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/search/api/planner.h"
#include "core/search/api/problem.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/explain/error_bar.h"

namespace strato {

struct Verdict {
  std::shared_ptr<const Problem> problem;  // in the groups of the strategy
  Outcome outcome;
  Outcome baseline;         // data parallel with AllReduce on all devices
  Nanos lower_bound;        // of every strategy
  Nanos batch_bound;        // of those that divide the batch alone (BoundOf::WholeOps)
  ErrorBar error;           // of outcome's step time
  bool own_groups = false;  // the strategy divides the groups that it was searched in
  MicroBatches micro_batches;
  std::size_t recomputed = 0;  // ops
  std::size_t offloaded = 0;   // ops
  std::string undivided;       // describe_undivided()
  std::string batch_stop;      // describe_batch_stop()
  std::string planner;
  std::uint64_t seed = 0;
  std::int64_t evaluations = 0;
  std::optional<std::int64_t> evaluations_to_beat_data_parallel;
  std::string note;
  std::vector<PlanResult::Fact> facts;
  std::vector<PlanResult::Curve> curves;
  bool stopped = false;  // by Ctrl-C

  bool feasible() const { return outcome.timeline->feasible; }
  // Baseline time over step time; against an infeasible baseline too, which says what it would
  // take.
  double speedup() const;
};

Verdict make_verdict(const Problem& problem, const Strategy& strategy,
                     const SimulateOptions& options = {});
// The same where data parallelism has been simulated already.
Verdict make_verdict(const Problem& problem, const Strategy& strategy, Outcome baseline,
                     const SimulateOptions& options = {});

// What does not change from one run of the same search to the next: what a plan file says of it.
Json result_json(const Verdict& verdict);

}  // namespace strato
