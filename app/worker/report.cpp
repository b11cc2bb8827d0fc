#include "app/worker/report.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "app/worker/report_nvml.h"
#include "app/worker/report_system.h"
#include "core/base/error.h"
#include "core/launch/discover/discover.h"
#include "core/launch/job/job_result.h"

namespace strato::worker {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// Slurm's own name of a node may be another one than its system's.
std::string host_name() {
  if (const char* node = std::getenv("SLURMD_NODENAME"); node != nullptr && *node != '\0')
    return node;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// Rank 0 waits for what the others tell, on a path that all of them see.
void await_reports(const std::filesystem::path& folder, const DiscoveryJob& job) {
  const auto until = SteadyClock::now() + job.timeout;
  for (int rank = 1; rank < job.ranks; ++rank) {
    while (!find_report(folder, rank)) {
      if (SteadyClock::now() > until) {
        throw InputError("", "", "rank " + std::to_string(rank) + " has not told what it has",
                         "the job's folder must be on a path that all nodes see");
      }
      std::this_thread::sleep_for(20ms);
    }
  }
}

void tell(Events& events, JobEvent::Kind kind) {
  JobEvent event;
  event.kind = kind;
  events.tell(event);
}

}  // namespace

MachineReport report_machine(const SystemPlaces& places) {
  MachineReport report;
  report.host = host_name();
  ask_processor(places, report);
  report.interfaces = ask_interfaces(places);
  NvmlAnswer answer = ask_nvml(places.nvml);
  report.driver = std::move(answer.driver);
  report.gpu_problem = std::move(answer.problem);
  report.gpus = std::move(answer.gpus);
  return report;
}

void report_rank(const WorkerArguments& arguments, Events& events) {
  const DiscoveryJob job = load_discovery(arguments.job);
  if (arguments.rank >= job.ranks) {
    throw InputError(arguments.job.string(), "", "has no rank " + std::to_string(arguments.rank),
                     "start " + std::to_string(job.ranks));
  }
  write_report(arguments.job, arguments.rank, report_machine());
  if (arguments.rank != 0) return;
  tell(events, JobEvent::Kind::Started);
  await_reports(arguments.job, job);
  finish_discovery(arguments.job, job);
  tell(events, JobEvent::Kind::Finished);
}

}  // namespace strato::worker
