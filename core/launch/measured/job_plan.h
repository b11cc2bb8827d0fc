// Two-stage rewriting (AutoDist 2.3): what a job takes along in place of the programs of all ranks,
// and the program that a rank makes of it, alone.
//
// Pure; safe from any thread.
#pragma once

#include <optional>

#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/cost_model.h"
#include "core/launch/job/job.h"
#include "core/search/api/problem.h"
#include "core/sim/engine/simulate.h"

namespace strato {

// Names what a timeline was lowered from. `costs`: the sources of the problem's costs.
struct PlannedBy {
  const Problem& problem;
  const Strategy& strategy;
  const CostSources& costs;
};

// Nothing: ranks would read another problem or strategy than this one, because it cannot all be
// said in a plan file (names that are no text, costs or groups of another making).
std::optional<JobPlan> plan_of_job(const PlannedBy& by, const SimulateOptions& simulation);

// The program of `device`, to the bit the one that it has among all. What devices with the same
// tasks do is lowered once (core/program/project/rank_programs.h); where that is not known, all
// tasks are, and only the device's own become a program. Throws InputError (file: `name`) when the
// plan is read otherwise than when it was staged, or the device has no task.
RankProgram lower_rank(const JobPlan& plan, std::shared_ptr<const Graph> graph, DeviceId device,
                       const std::string& name);

// Returns the devices that have a task, by rank, ascending.
std::vector<DeviceId> working_devices(const Program& program);

}  // namespace strato
