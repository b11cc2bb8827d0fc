// Makes a planner's result of a list scheduler: its schedule as a strategy, simulated; where the
// simulator finds that it does not fit (the dag knows what lasts for the step, not every buffer),
// made again with less of each device's memory. One thread.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "core/schedule/list/schedule.h"
#include "core/schedule/list/steps.h"
#include "core/search/api/planner.h"

namespace strato {

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

// Plans for a dag whose nodes are the problem's ops. Returns the first result that fits, otherwise
// the best.
PlanResult plan_by_schedule(const Problem& problem, const Dag& dag, Evaluator& evaluator,
                            const PlannerOptions& options, Observer& observer,
                            const std::stop_token& stop, const ListPlannerSettings& settings,
                            const MakeSchedule& make);

// Returns the devices that a step of a list scheduler could choose from, before its node is placed.
std::vector<PlanningSteps::Candidate> candidates_of(const Scheduling& scheduling, NodeIndex node,
                                                    const Cluster& cluster);

}  // namespace strato
