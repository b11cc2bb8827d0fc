// celeritas and order-place: Celeritas (sections 4 and 5). Ops are fused into clusters of
// consecutive ones of the CPD-TOPO order by Kernighan's dynamic program (core/schedule/dag/
// fusion.h), and the clusters placed in order. order-place with range=1 and order=dfs or m is the
// placement of the Standard Evaluation (4.2.2).
//
// There are two ways to place the nodes of a dag one by one. Order-Place (5.2; the Standard
// Evaluation's placement, 4.2) stays on one device until a node finds no room there, then goes on
// to the next device that has room, and never back. Adjusting Placement (Algorithm 2) stays on the
// device of the node before, unless that has no room, or another device is earlier by more than it
// takes to send results back (Equation 9). In both the first node of a co-location group decides
// for the others (6.1), and when all devices are full the emptiest takes the node: the schedule
// then does not fit.
//
// Beyond the paper (variant=paper leaves it out): a placement that the simulator finds not to fit
// is made again with less of every device's memory; and celeritas begins with what order-place
// finds, tries smaller clusters, adjusting and not, by the earliest finish, fast devices first, in
// the order of the schedule, and takes what the simulator finds fastest. How much it tries falls
// with the size of the graph, so that it stays quick.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/schedule/dag/fusion.h"
#include "core/schedule/dag/levels.h"
#include "core/schedule/dag/transfer_times.h"
#include "core/schedule/list/schedule.h"
#include "core/schedule/list/steps.h"
#include "core/search/api/planner.h"

namespace strato {

// "celeritas" or "order-place".
std::unique_ptr<Planner> make_celeritas(std::string_view name);

namespace celeritas {

struct PlacingOptions {
  bool adjust = true;  // false: Order-Place
  // Adjust by the earliest finish instead of the earliest start: the same on equal devices, and
  // sees on unequal ones that a later start may be the earlier finish.
  bool by_finish = false;
  std::vector<DeviceId> devices;  // in the order in which they are filled
  Scheduling::Options scheduling;
};

struct Placed {
  Schedule schedule;
  // Nodes that an adjustment took to another device than their forerunner's.
  std::int64_t moves = 0;
};

// `order`: a topological order of all nodes. `steps`: gets one step a node, or null.
Placed place(const Dag& dag, const TransferTimes& transfers, const Cluster& cluster,
             std::span<const NodeIndex> order, const PlacingOptions& options,
             std::vector<PlanningSteps::Step>* steps = nullptr);

enum class Order : std::uint8_t { Cpd, Dfs, M };

// The choices in making one placement. The defaults are the paper's.
struct Recipe {
  Order order = Order::Cpd;
  std::int64_t range = 200;      // R; 1: no fusion
  double cluster_memory = 0.25;  // M, of the smallest device's memory
  bool fastest_first = false;    // fill fast devices first; false: by number
  bool enforce_order = false;    // ops run in the order of the schedule
  // Without devices: fastest_first says them. Transfers are tasks (6.1).
  PlacingOptions placing{.devices = {}, .scheduling = {.transfers_are_tasks = true}};
};

// The graph and its weights, which are the same whatever the recipe.
struct Fine : WeighedDag {  // a node an op
  explicit Fine(const Problem& problem);
  Problem problem;
  std::vector<DeviceId> by_number, fastest_first;
};

struct Coarse : WeighedDag {  // a node a cluster
  Fusion fusion;
  std::vector<NodeIndex> order;
};
Coarse coarsen(const Fine& fine, const Recipe& recipe);

Placed place(const Fine& fine, const Coarse& coarse, const Recipe& recipe,
             std::vector<PlanningSteps::Step>* steps = nullptr);

// The whole of it, to be replayed.
std::shared_ptr<const PlanningSteps> steps_of(const Fine& fine, const Coarse& coarse,
                                              const Recipe& recipe);

}  // namespace celeritas
}  // namespace strato
