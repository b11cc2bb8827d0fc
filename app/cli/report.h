// What a strategy is worth, for a person and for a script: beside data parallelism and beside the
// lower bound.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/json.h"
#include "core/search/api/evaluator.h"
#include "core/search/api/planner.h"
#include "core/search/api/problem.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/explain/error_bar.h"

namespace strato::cli {

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

// One line for every device that is too small: how much it lacks, when, and the largest tensors
// alive then. Of many devices one for those that follow each other and lack as much, and few.
std::vector<std::string> infeasible_reasons(const Timeline& timeline);

Json verdict_json(const Verdict& verdict, double wall_seconds);
std::string verdict_text(const Verdict& verdict, double wall_seconds);
// For the plan file: what does not change from one run of the same command to the next.
Json result_json(const Verdict& verdict);

}  // namespace strato::cli
