// The steps from a problem to a placement: order, fuse, order again, place (Celeritas, figure 2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/schedule/dag/fusion.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/search/api/problem.h"
#include "plugins/planners/list/celeritas/placing.h"

namespace strato::celeritas {

enum class Order : std::uint8_t { Cpd, Dfs, M };

// The choices in making one placement. The defaults are the paper's.
struct Recipe {
  Order order = Order::Cpd;
  std::int64_t range = 200;      // R; 1: no fusion
  double cluster_memory = 0.25;  // M, of the smallest device's memory
  bool adjust = true;            // Algorithm 2; false: Order-Place
  bool by_finish = false;        // see PlacingOptions
  bool fastest_first = false;    // fill fast devices first; false: by number
  bool insert = true;
  bool transfers_are_tasks = true;  // 6.1
  double memory = 1;                // part of every device's memory to be used
  bool enforce_order = false;       // ops run in the order of the schedule
};

// The graph and its weights, which are the same whatever the recipe.
struct Fine {
  explicit Fine(const Problem& problem);
  Problem problem;
  Dag dag;  // a node an op
  TransferTimes transfers;
  Weights weights;
  std::vector<DeviceId> by_number, fastest_first;
};

struct Coarse {
  Fusion fusion;
  Dag dag;
  TransferTimes transfers;
  Weights weights;
  std::vector<NodeIndex> order;
};
Coarse coarsen(const Fine& fine, const Recipe& recipe);

Placed place(const Fine& fine, const Coarse& coarse, const Recipe& recipe,
             std::vector<PlanningSteps::Step>* steps = nullptr);

// The whole of it, to be replayed.
std::shared_ptr<const PlanningSteps> steps_of(const Fine& fine, const Coarse& coarse,
                                              const Recipe& recipe);

}  // namespace strato::celeritas
