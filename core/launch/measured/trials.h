// Trials: strategies that are judged by running them (AutoDist 2.4, algorithm 1), for a planner
// that asks for few. Knows no processes: a callback runs plans, as in tune.h, so that they may be
// simulated ones with noise.
//
// A strategy runs once; what was run before (in an interrupted search, say) is answered from there.
// One that fails, times out, or is not thought to fit into memory is infeasible: it teaches the
// planner and stops nothing. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/launch/measured/tune.h"
#include "core/search/api/planner.h"

namespace strato {

struct Trial {
  Strategy strategy;
  Score predicted;
  Score score;          // the measured step time; infeasible when it failed
  std::string problem;  // why it failed
  bool ran = false;     // now or before; else it is not thought to fit
  bool known = false;   // from before
};

// Tells how a strategy (complete) did before: its measured time, or 0 when it failed; nothing: it
// was not run.
using KnownTrial = std::function<std::optional<Nanos>(const Strategy&)>;

struct TrialsSetting {
  RunPlan run;       // TunePlan::round: number of the trial, from 0 on, those known included
  KnownTrial known;  // may be empty
  std::function<void(const Trial&)> report;  // after each; may be empty
  SimulateOptions simulation;
};

struct TrialsResult {
  PlanResult plan;  // its score is a measured one; not feasible: nothing ran
  std::vector<Trial> trials;
  std::optional<Nanos> start;   // data parallelism, measured
  bool stopped = false;         // by a person, in the middle of a trial: the planner drew no curves
  std::int64_t failed() const;  // of those that ran
};

// Data parallelism first, then whatever the planner asks for; the result is the fastest of all that
// ran. Options, observer and stop are the planner's; an option that it has not is an InputError.
// Throws what planner and callbacks throw.
TrialsResult plan_by_trials(const Problem& problem, Planner& planner, const PlannerOptions& options,
                            const TrialsSetting& setting, Observer& observer, std::stop_token stop);

// Trials where no cluster is: what the simulator says, times e to the power of a normal deviate of
// this spread, which follows from the seed and the strategy.
RunPlan simulated_trials(double spread, std::uint64_t seed);

}  // namespace strato
