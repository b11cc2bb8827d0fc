#include "core/search/verdict/verdict.h"

#include <array>
#include <functional>
#include <utility>

#include "core/base/parallel.h"
#include "core/graph/axes/batch_stop.h"
#include "core/search/evaluate/baselines.h"
#include "core/search/evaluate/lower_bound.h"
#include "core/search/evaluate/undivided.h"

namespace strato {
namespace {

bool is_data_parallel(const Problem& problem, const Strategy& strategy) {
  return strategy.grouping == nullptr &&
         CompleteStrategy(strategy, *problem.cluster).digest() ==
             CompleteStrategy(data_parallel(problem), *problem.cluster).digest();
}

}  // namespace

double Verdict::speedup() const {
  return outcome.timeline->step_time > Nanos(0)
             ? baseline.timeline->step_time / outcome.timeline->step_time
             : 1;
}

Verdict make_verdict(const Problem& problem, const Strategy& strategy,
                     const SimulateOptions& options) {
  return make_verdict(problem, strategy,
                      simulate_outline(problem, data_parallel(problem), true, options), options);
}

Verdict make_verdict(const Problem& problem, const Strategy& strategy, Outcome baseline,
                     const SimulateOptions& options) {
  Verdict verdict;
  verdict.problem = std::make_shared<const Problem>(problem_for(problem, strategy));
  verdict.micro_batches = strategy.micro_batches;
  verdict.recomputed = strategy.recomputed.size();
  verdict.offloaded = strategy.offloaded.size();
  verdict.undivided = describe_undivided(problem, complete(strategy, *problem.cluster));
  verdict.batch_stop = describe_batch_stop(*problem.graph);
  const std::array<std::function<void()>, 3> parts = {
      [&] {
        verdict.outcome = is_data_parallel(problem, strategy)
                              ? baseline
                              : simulate_outline(problem, strategy, true, options);
      },
      [&] { verdict.lower_bound = lower_bound(problem); },
      [&] { verdict.batch_bound = lower_bound(problem, BoundOf::WholeOps); }};
  parallel_for(parts.size(), 0, [&](std::size_t i) { parts[i](); });
  verdict.baseline = std::move(baseline);
  verdict.error = error_bar(*verdict.outcome.timeline, *problem.cost);
  return verdict;
}

Json result_json(const Verdict& verdict) {
  Json json = {{"planner", verdict.planner},
               {"seed", verdict.seed},
               {"step_time_s", to_seconds(verdict.outcome.timeline->step_time)},
               {"step_time_low_s", to_seconds(verdict.error.low)},
               {"step_time_high_s", to_seconds(verdict.error.high)},
               {"baseline_step_time_s", to_seconds(verdict.baseline.timeline->step_time)},
               {"speedup", verdict.speedup()},
               {"lower_bound_s", to_seconds(verdict.lower_bound)},
               {"lower_bound_batch_alone_s", to_seconds(verdict.batch_bound)},
               {"feasible", verdict.feasible()},
               {"baseline_feasible", verdict.baseline.timeline->feasible},
               {"tasks", verdict.outcome.program->tasks.size()},
               {"evaluations", verdict.evaluations},
               {"note", verdict.note}};
  if (verdict.evaluations_to_beat_data_parallel) {
    json["evaluations_to_beat_data_parallel"] = *verdict.evaluations_to_beat_data_parallel;
  }
  if (verdict.micro_batches.count > 1) json["micro_batches"] = describe(verdict.micro_batches);
  if (verdict.recomputed > 0) json["recomputed_ops"] = verdict.recomputed;
  if (verdict.offloaded > 0) json["offloaded_ops"] = verdict.offloaded;
  if (!verdict.undivided.empty()) json["undivided"] = verdict.undivided;
  if (!verdict.batch_stop.empty()) json["batch_stop"] = verdict.batch_stop;
  for (const auto& [name, value] : verdict.facts) json["facts"][name] = value;
  return json;
}

}  // namespace strato
