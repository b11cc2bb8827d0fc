#include "core/measured/make_job.h"

#include "core/base/file.h"
#include "core/sim/execution_order.h"

namespace strato {
namespace fs = std::filesystem;

Job make_job(const Timeline& predicted, const std::string& name, const JobOptions& options) {
  const Program& program = *predicted.program;
  Job job;
  job.name = name;
  job.options = options;
  job.graph = program.graph;
  job.programs = rank_programs(program, execution_order(predicted));
  check_termination(job.programs, name);
  job.predicted = predicted.step_time;
  for (const RankProgram& rank : job.programs.ranks) {
    const Device& device = program.cluster->device(rank.device);
    job.devices.push_back(device.name);
    job.machines.push_back(device.machine.value());
  }
  return job;
}

std::vector<DeviceId> devices_of(const RankPrograms& programs) {
  std::vector<DeviceId> devices;
  for (const RankProgram& rank : programs.ranks) devices.push_back(rank.device);
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
