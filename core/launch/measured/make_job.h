// Makes a job that launchers start from a simulated strategy, alike for the command line and the
// window.
//
// Pure but for worker_program; safe from any thread.
#pragma once

#include <filesystem>
#include <string>

#include "core/launch/job/job.h"
#include "core/launch/measured/job_plan.h"
#include "core/sim/engine/simulate.h"

namespace strato {

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
