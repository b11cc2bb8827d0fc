// Planning by running: FastT's loop, and trials (below). Both know no processes: a callback runs
// plans, so that they may be simulated ones. One thread; deterministic when planner and callback
// are.
//
// FastT's loop (FastT 4): run a strategy, learn costs from what was measured, plan with them, and
// run that; keep what is faster, roll back what is slower, stop when the cost model is stable.
//
//   round 0   data parallelism, where it is thought to fit; else the planner's strategy
//   round i   the planner's strategy under the costs learned so far; the best one again when the
//             planner has nothing better that was not run yet
//   end       a round changed the cost model by less than `stable`, and nothing new is promised to
//             be faster than the best by that much
//
// A run that failed ends nothing: its strategy is not run again, and a rank whose memory did not
// suffice teaches how much less its type of GPU holds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/profile.h"
#include "core/launch/job/job_result.h"
#include "core/search/api/evaluator.h"
#include "core/search/api/planner.h"
#include "core/search/evaluate/outcome.h"
#include "core/sim/engine/simulate.h"

namespace strato {

struct TuneOptions {
  int rounds = 8;        // at most, those that fail included
  double stable = 0.05;  // relative change of the cost model below which it is stable
  double keep = 0.5;     // of an earlier run's weight, when the same is measured again (refit)
  PlannerOptions planner;
  SimulateOptions simulation;
  CostSources costs;  // what problem.cost was made from
};

// A strategy that is about to run.
struct TunePlan {
  int round = 0;
  std::string made_by;  // a planner's name
  Strategy strategy;
  Problem problem;  // with the costs, and the memory, that are assumed in this round
  Outcome predicted;
};

// The outcome of running a plan.
struct PlanRun {
  enum class State : std::uint8_t {
    Measured,
    Failed,
    Stopped,  // by a person: the loop ends
  } state = State::Measured;
  JobResult result;                   // of Measured
  std::vector<DeviceId> devices;      // by rank
  std::string problem;                // of Failed, for people
  std::optional<DeviceId> exhausted;  // of Failed: its memory did not suffice
};
using RunPlan = std::function<PlanRun(const TunePlan&)>;

struct TuneRound {
  enum class Verdict : std::uint8_t {
    Kept,        // the first that ran, or faster than the best before
    Again,       // the best one was run again; its time is the least that it took
    RolledBack,  // slower than the best
    Failed
  } verdict = Verdict::Kept;
  TunePlan plan;
  Nanos measured;     // step time; 0 when it failed
  double change = 0;  // of the cost model by what this round taught, over the plan's tasks
  JobResult result;
  std::string problem;

  double error() const { return measured / plan.predicted.score.step_time - 1; }
};
std::string_view name_of(TuneRound::Verdict verdict);  // "kept", "again", "rolled back", "failed"

struct TuneResult {
  enum class End : std::uint8_t {
    Stable,
    Rounds,   // all were used
    Stopped,  // by a person
    Nothing,  // nothing is left that is thought to fit and did not fail
  } end = End::Rounds;
  // Programs, timelines and measured tasks are null or empty but of the best and the last one.
  std::vector<TuneRound> rounds;
  std::optional<std::size_t> first, best;  // rounds that were measured; none when all failed
  Nanos best_measured;                     // of `best`, the least of all its runs
  Profile profile;                         // options.costs.profile with what the runs taught
};
std::string_view name_of(TuneResult::End end);  // for people: "the cost model is stable"

// `report` is told after each round, and has all rounds so far; may be empty. `planning` watches
// the planner. Throws what planner and callbacks throw.
TuneResult tune(const Problem& problem, Planner& planner, const TuneOptions& options,
                const RunPlan& run, const std::function<void(const TuneResult&)>& report,
                Observer& planning, std::stop_token stop);

// ---- trials: strategies that are judged by running them (AutoDist 2.4, algorithm 1)
//
// For a planner that asks for few. A strategy runs once; what was run before (in an interrupted
// search, say) is answered from there. One that fails, times out, or is not thought to fit into
// memory is infeasible: it teaches the planner and stops nothing.

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
