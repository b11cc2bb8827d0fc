#include "core/launch/measured/make_job.h"

#include <utility>

#include "core/io/file.h"
#include "core/program/project/rank_programs.h"
#include "core/program/project/ring_order.h"
#include "core/program/rank/termination.h"
#include "core/sim/timeline/execution_order.h"

namespace strato {
namespace fs = std::filesystem;

namespace {

Job job_of(const Timeline& predicted, const std::string& name, const JobOptions& options) {
  Job job;
  job.name = name;
  job.options = options;
  job.graph = predicted.program->graph;
  job.predicted = predicted.step_time;
  return job;
}

void name_devices(Job& job, const Cluster& cluster) {
  for (const DeviceId id : devices_of(job)) {
    const Device& device = cluster.device(id);
    job.devices.push_back(device.name);
    job.machines.push_back(device.machine.value());
  }
}

}  // namespace

Job make_job(const Timeline& predicted, const PlannedBy& by, const std::string& name,
             const JobOptions& options) {
  std::optional<JobPlan> plan = plan_of_job(by, predicted.options);
  if (!plan) return make_job(predicted, name, options, &by.strategy);
  Job job = job_of(predicted, name, options);
  job.plan = std::move(plan);
  job.device_ids = working_devices(*predicted.program);
  name_devices(job, *predicted.program->cluster);
  return job;
}

Job make_job(const Timeline& predicted, const std::string& name, const JobOptions& options,
             const Strategy* strategy) {
  const Program& program = *predicted.program;
  Job job = job_of(predicted, name, options);
  job.programs = rank_programs(program, execution_order(predicted));
  if (strategy != nullptr) {
    const RingOrders rings = ring_orders(program, complete(*strategy, *program.cluster));
    for (RankProgram& rank : job.programs.ranks) order_rings(rank, rings);
  }
  check_termination(job.programs, name);
  name_devices(job, *program.cluster);
  return job;
}

std::vector<DeviceId> devices_of(const Job& job) {
  if (job.plan) return job.device_ids;
  std::vector<DeviceId> devices;
  for (const RankProgram& rank : job.programs.ranks) devices.push_back(rank.device);
  return devices;
}

fs::path worker_program() {
  constexpr const char* kName = "stratoscope-worker";
  std::error_code ignored;
  const fs::path running = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path beside = running.parent_path() / kName;
  return fs::exists(beside, ignored) ? beside : home_directory() / "bin" / kName;
}

}  // namespace strato
