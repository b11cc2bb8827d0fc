// `profile` over a cluster: a measurement job, started by a launcher, and what it measured.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/launch_job.h"
#include "app/cli/output.h"
#include "app/cli/profile/cluster_report.h"
#include "app/cli/profile/options.h"
#include "app/cli/samples.h"
#include "core/base/error.h"
#include "core/cost/value/profile.h"
#include "core/launch/measure/measure_job.h"
#include "core/launch/measured/make_job.h"
#include "core/launch/profiling/op_times.h"

namespace strato::cli {
namespace {

MeasureJobOptions job_options(const ProfileOptions& options) {
  const JobOptions launch = options.launch.job_options();
  MeasureJobOptions job;
  job.engine = launch.engine;
  job.transport = launch.transport;
  job.device = options.device;
  job.threads = options.threads;
  job.seed = options.seed;
  job.repetitions = options.repetitions;
  job.timeout = launch.timeout;
  job.largest = Bytes(options.largest);
  const double seconds = parse_duration(options.budget, "--budget");
  if (seconds < 0.001)
    throw InputError("", "--budget", "leaves no time to measure", "give some seconds");
  job.budget = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * seconds));
  return job;
}

// Of one device alone and of its even share, and what planners make of those.
std::vector<std::int64_t> batches_for(std::int64_t batch, std::int64_t devices) {
  std::vector<std::int64_t> batches = halves(batch);
  batches.push_back((batch + devices - 1) / devices);
  std::sort(batches.rbegin(), batches.rend());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

class MeasuringLine {
 public:
  MeasuringLine() { line_.show("starting the ranks"); }
  void show(const MeasureEvent& event) {
    line_.show(fmt::format("{} of {}: {}, {:.0f} s left", event.done + 1, event.of, event.what,
                           std::chrono::duration<double>(event.left).count()));
  }

 private:
  ProgressLine line_;
};

MeasureRun measured(const ProfileOptions& options, const MeasureJob& job, const JobFolder& folder,
                    Interrupt& interrupt) {
  const auto launcher = plugins().launcher(options.launch.launcher);
  MeasuringLine line;
  interrupt.arm();
  return measure_on(*launcher, job, folder.path(), worker_program(), options.launch.settings(),
                    interrupt.token(), [&](const MeasureEvent& event) { line.show(event); });
}

}  // namespace

int profile_cluster(const ProfileOptions& options, const Command& command) {
  Interrupt interrupt;
  options.launch.check();
  check_writable(options.output,
                 {model_path(options.model.graph), options.merged, cluster_path(options.cluster)});
  const MeasureJobOptions how = job_options(options);
  const Profile other = options.merged.empty() ? Profile() : read_profile(options.merged);
  const auto cluster = load_cluster(options.cluster);
  const auto devices = static_cast<std::int64_t>(cluster->device_count());
  std::string name = cluster->name();
  std::vector<std::shared_ptr<const Graph>> graphs;
  if (!options.model.graph.empty()) {
    graphs =
        graphs_of(options, name, [&](std::int64_t batch) { return batches_for(batch, devices); });
  }
  const MeasureJob job = make_measure_job(*cluster, name, graphs, how);
  JobFolder folder(options.folder, options.launch.launcher != "local");
  const MeasureRun run = measured(options, job, folder, interrupt);
  if (run.state != JobState::Finished)
    return report_unfinished({run.state, run.problem}, "the job failed", folder, command);
  const Profile all = other.empty() ? run.result.profile : merge(run.result.profile, other);
  if (!options.output.empty()) write_profile(options.output, all);
  for (const std::string& note : run.result.notes) {
    if (!command.json) remark(note);
  }
  const ClusterProfileReport report{job, *cluster, run.result, options.launch.launcher,
                                    options.output};
  print(command.json ? cluster_profile_json(report, command.wall_seconds()) + "\n"
                     : cluster_profile_text(report));
  return Done;
}

}  // namespace strato::cli
