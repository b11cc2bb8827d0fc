// Tasks and networks for the tests of GDP's policy.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/search/evaluate/outcome.h"
#include "core/search/evaluate/simulating_evaluator.h"
#include "core/search/run/run_planner.h"
#include "plugins/planners/learned/gdp/policy/ppo.h"
#include "tests/core/search/toy.h"
#include "tests/plugins/shipped.h"

namespace strato::gdp {

inline NetworkSize tiny_network() {
  NetworkSize size;
  size.graph_layers = 2;
  size.neighbours = 3;
  size.graph_width = size.width = 12;
  size.layers = 2;
  size.heads = 2;
  size.head_width = 5;
  size.inner = 16;
  size.segment = 4;
  return size;
}

// A chain of ops on a cluster of `machines` with a GPU each, and all that a policy needs of it.
struct ToyTask {
  explicit ToyTask(int ops = 6, int machines = 2, const PlacementOptions& options = {})
      : problem(make_problem(toy::chain(ops, 64, 512), toy::small_cluster(machines, 0), {})),
        evaluator(make_simulating_evaluator(problem, 1)),
        task(problem, *evaluator, options) {
    task.evaluate(task.known_placements());
  }
  Problem problem;
  std::unique_ptr<Evaluator> evaluator;
  PlacementTask task;
};

// By unit and choice: probabilities.
inline Probabilities policy_of(const std::vector<std::vector<double>>& rows) {
  Probabilities policy;
  policy.units = static_cast<std::int32_t>(rows.size());
  policy.choices = static_cast<std::int32_t>(rows[0].size());
  for (const auto& row : rows)
    for (const double p : row) policy.logarithm.push_back(static_cast<float>(std::log(p)));
  return policy;
}

// A round that is learned from.
inline RoundReport play_round(Network& network, PlacementTask& task, const PpoOptions& options,
                              std::int64_t round, std::uint64_t seed, std::int64_t most) {
  Round tried = try_round(network, task, options, round, seed, most);
  const RoundReport report = tried.report;
  learn(network, task, std::move(tried), options);
  return report;
}

// What every planner of this plugin has to keep to, as it is shipped: a complete strategy whose
// time the simulator repeats, within the evaluations allowed, the same each time and with any
// number of threads. Returns it.
inline PlanResult sound_plan_of(const std::string& planner) {
  const Problem problem = sample("lenet", 64, "gdp");
  PlannerOptions options;
  options.iterations = 60;
  options.floor = false;
  Observer quiet;
  const auto planned = [&] {
    return run_planner(*registry().planner(planner), problem, options, quiet, {});
  };
  PlanResult result = planned();
  EXPECT_TRUE(result.strategy.is_complete());
  EXPECT_EQ(simulate_strategy(problem, result.strategy).score.step_time, result.score.step_time);
  EXPECT_LE(result.evaluations, 60);
  options.threads = 3;
  EXPECT_EQ(planned().strategy, result.strategy);
  return result;
}

}  // namespace strato::gdp
