// Makes a job that launchers start from a simulated strategy, alike for the command line and the
// window.
//
// Pure but for worker_program; safe from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/cost/model/measured_cost_model.h"
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

// Two-stage rewriting (AutoDist 2.3): what a job takes along in place of the programs of all ranks.
// Nothing: ranks would read another problem or strategy than this one, because it cannot all be
// said in a plan file (names that are no text, costs or groups of another making).
std::optional<JobPlan> plan_of_job(const PlannedBy& by, const SimulateOptions& simulation);

// The program of `device`, to the bit the one that it has among all. What devices with the same
// tasks do is lowered once (core/program/project/rank_programs.h); where that is not known, all
// tasks are, and only the device's own become a program. Throws InputError (file: `name`) when the
// plan is read otherwise than when it was staged, or the device has no task.
RankProgram lower_rank(const JobPlan& plan, std::shared_ptr<const Graph> graph, DeviceId device,
                       const std::string& name);

// Ranks execute their tasks in the order in which they start in `predicted`, and make their
// programs themselves from the plan, which travels.
Job make_job(const Timeline& predicted, const PlannedBy& by, const std::string& name,
             const JobOptions& options);
// The same with the programs of all ranks, made here: for times that no plan gives (an engine that
// replays others than it was planned with), or a plan that cannot travel. Throws InputError when
// the programs might not end (core/program/rank/rank_program.h); `name`: of the plan. `strategy`:
// of `predicted`, whose reduction sequences are followed; null: transports reduce as they like.
Job make_job(const Timeline& predicted, const std::string& name, const JobOptions& options,
             const Strategy* strategy = nullptr);

// Returns the devices that have a task, by rank, ascending.
std::vector<DeviceId> devices_of(const Job& job);

// stratoscope-worker: beside the running program, else under home_directory(). It may not be there.
std::filesystem::path worker_program();

}  // namespace strato
