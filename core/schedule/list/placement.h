// Makes strategies of decisions op by op, and a planner's result of a list scheduler. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

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

// By op its place among all when they are sorted by these starts: priorities that run them in
// order.
std::vector<std::int32_t> places_by_start(std::span<const Nanos> starts);

// `memory`: the part of every device's memory to be used. `steps`: to be filled, or null.
using MakeSchedule = std::function<Schedule(double memory, PlanningSteps* steps)>;

// The settings that all planners have that schedule lists.
struct ListPlannerSettings {
  bool with_order = true;  // ops run in the order of the schedule
  bool paper = false;      // one schedule, with all of the memory

  OptionTable option_table(
      std::string paper_help = "paper: one schedule, even where the simulator finds no fit");
};

// Plans for a dag whose nodes are the problem's ops: the schedule as a strategy, simulated; where
// the simulator finds that it does not fit (the dag knows what lasts for the step, not every
// buffer), made again with less of each device's memory. Returns the first result that fits,
// otherwise the best. `algorithm`: for the steps.
PlanResult plan_by_schedule(const PlanRequest& request, const Dag& dag,
                            const ListPlannerSettings& settings, const std::string& algorithm,
                            const MakeSchedule& make);

// Places the node. Adds that to `steps`, unless it is null, with what every device could do.
void place_and_record(Scheduling& scheduling, NodeIndex node, DeviceId device,
                      PlanningSteps::Why why, std::vector<PlanningSteps::Step>* steps,
                      std::string remark = {});

}  // namespace strato
