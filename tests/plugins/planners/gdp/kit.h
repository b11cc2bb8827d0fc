// Tasks and networks for the tests of GDP's policy.
#pragma once

#include <memory>

#include "plugins/planners/gdp/ppo.h"
#include "tests/core/search/toy.h"

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
struct Ground {
  explicit Ground(int ops = 6, int machines = 2, const PlacementOptions& options = {})
      : problem(make_problem(toy::chain(ops, 64, 512), toy::small_cluster(machines, 0), {})),
        evaluator(make_simulating_evaluator(problem, 1)),
        task(problem, *evaluator, options) {
    task.evaluate(task.known_placements());
  }
  Problem problem;
  std::unique_ptr<Evaluator> evaluator;
  PlacementTask task;
};

}  // namespace strato::gdp
