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
// suffice teaches how much less its type of GPU holds. Knows no processes: a callback runs plans,
// so that they may be simulated ones. One thread; deterministic when planner and callback are.
#pragma once

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

}  // namespace strato
