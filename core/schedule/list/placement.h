// Makes strategies of decisions op by op, and a planner's result of a list scheduler. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>

#include "core/schedule/list/schedule.h"
#include "core/schedule/list/steps.h"
#include "core/search/api/planner.h"

namespace strato {

// Every op is told choices[choice_of[op]]. The strategy has groups of its own: the problem's,
// divided where their ops are told different things; where none is, it has the problem's.
Strategy strategy_by_ops(const Problem& problem, std::span<const std::int32_t> choice_of,
                         std::span<const Decision> choices);

// The same with every op whole on its device.
Strategy strategy_on_devices(const Problem& problem, std::span<const DeviceId> device_of);

// Every op whole on the device of its node; `node_of`: by op; empty: nodes are ops. With
// `with_order` ops run in the order of the schedule's starts (FastT's order enforcement).
Strategy strategy_of(const Problem& problem, const Schedule& schedule,
                     std::span<const NodeIndex> node_of, bool with_order);

// `memory`: the part of every device's memory to be used. `steps`: to be filled, or null.
using MakeSchedule = std::function<Schedule(double memory, PlanningSteps* steps)>;

// The settings that all planners have that schedule lists.
struct ListPlannerSettings {
  std::string algorithm;   // for the steps
  bool with_order = true;  // ops run in the order of the schedule
  bool paper = false;      // one schedule, with all of the memory

  OptionTable option_table(
      std::string paper_help = "paper: one schedule, even where the simulator finds no fit");
};

// Plans for a dag whose nodes are the problem's ops: the schedule as a strategy, simulated; where
// the simulator finds that it does not fit (the dag knows what lasts for the step, not every
// buffer), made again with less of each device's memory. Returns the first result that fits,
// otherwise the best.
PlanResult plan_by_schedule(const Problem& problem, const Dag& dag, Evaluator& evaluator,
                            const PlannerOptions& options, Observer& observer,
                            const std::stop_token& stop, const ListPlannerSettings& settings,
                            const MakeSchedule& make);

// Returns the devices that a step of a list scheduler could choose from, before its node is placed.
std::vector<PlanningSteps::Candidate> candidates_of(const Scheduling& scheduling, NodeIndex node,
                                                    const Cluster& cluster);

}  // namespace strato
