#include "core/launch/discover/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/job/job_file.h"
#include "core/launch/measure/measure_job.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* kDiscovery = "discover.json";
constexpr const char* kDiscoveryFormat = "stratoscope-discovery";
constexpr int kMostMachines = 1024;

fs::path report_file(const fs::path& folder, int rank) {
  return folder / fmt::format("machine-{}.json", rank);
}

// The reports of all machines, or nothing with the state and problem in `result`.
std::vector<MachineReport> gather_reports(Launcher& launcher, const DiscoverOptions& options,
                                          int machines, const std::stop_token& stop,
                                          Discovered& result) {
  stage_discovery(options.folder, {machines, 60s});
  LaunchRequest request{options.folder, options.worker, machines, {}, options.settings};
  for (int machine = 0; machine < machines; ++machine) request.machines.push_back(machine);
  const auto job = launcher.launch(request);
  static_cast<JobEnd&>(result) = follow(*job, stop, [](const std::string&) {});
  if (result.state != JobState::Finished) return {};
  try {
    return read_reports(options.folder);
  } catch (const InputError& error) {
    static_cast<JobEnd&>(result) = {JobState::Failed, error.what()};
    return {};
  }
}

void remark_on(const std::vector<MachineReport>& reports, Discovered& result) {
  std::set<std::string> hosts;
  for (const MachineReport& report : reports) {
    if (!hosts.insert(report.host).second)
      result.remarks.push_back(fmt::format("two ranks ran on {}: it is there twice", report.host));
    if (report.gpus.empty())
      result.remarks.push_back(fmt::format("{} has no GPU: {}", report.host, report.gpu_problem));
  }
}

// NCCL measures between GPUs, where every device is one; else messages go through the processes'
// memory.
MeasureJobOptions measure_options(const Cluster& cluster) {
  MeasureJobOptions options;
  const bool gpus = std::none_of(cluster.gpu_types().begin(), cluster.gpu_types().end(),
                                 [](const GpuType& type) { return type.architecture == "CPU"; });
  options.engine = gpus ? "replay-cuda" : "torch";  // holds the messages on their device
  options.transport = gpus ? "nccl" : "gloo";
  options.device = gpus ? "cuda" : "cpu";
  options.largest = Bytes(std::int64_t{64} << 20);
  options.budget = std::chrono::seconds(30);  // of a cluster file, not of a profile
  return options;
}

// Fits a link to a transfer's times by size: the latency is that of the smallest message, the
// bandwidth is what the largest reaches beyond it.
MeasuredLink link_of(const TransferProfile& transfer) {
  const SizedMeasurement& least = transfer.measurements.front();
  const SizedMeasurement& most = transfer.measurements.back();
  const Nanos beyond = std::max(Nanos(1), most.time - least.time);
  return {transfer.from, transfer.to,
          static_cast<double>(most.bytes.value - least.bytes.value) / to_seconds(beyond),
          least.time};
}

// Measures between the devices of a cluster by a job of their own. One that cannot even be started
// has failed, too.
MeasureRun measure_links(Launcher& launcher, const DiscoverOptions& options, const Cluster& cluster,
                         const std::stop_token& stop,
                         const std::function<void(const std::string&)>& progress) {
  try {
    const MeasureJob job = make_measure_job(cluster, cluster.name(), {}, measure_options(cluster));
    return measure_on(launcher, job, options.folder / "measure", options.worker, options.settings,
                      stop,
                      [&](const MeasureEvent& event) { progress("measuring " + event.what); });
  } catch (const InputError& error) {
    return {{JobState::Failed, error.what()}, {}};
  }
}

// Measures the links; when they cannot be measured, what the machines reported stays.
void measure(Launcher& launcher, const DiscoverOptions& options, const GpuCatalogue& catalogue,
             const std::stop_token& stop, const std::function<void(const std::string&)>& progress,
             Discovered& result) {
  const Cluster cluster = parse_cluster(result.cluster, "the discovered cluster", catalogue);
  if (cluster.device_count() < 2) {
    result.remarks.emplace_back("there is one device: nothing to measure between");
    return;
  }
  const MeasureRun measured = measure_links(launcher, options, cluster, stop, progress);
  if (measured.state == JobState::Cancelled) {
    result.state = JobState::Cancelled;
  } else if (measured.state == JobState::Finished) {
    for (const std::string& note : measured.result.notes) result.remarks.push_back(note);
    std::vector<MeasuredLink> links;
    for (const TransferProfile& transfer : measured.result.profile.transfers)
      if (transfer.measurements.size() >= 2) links.push_back(link_of(transfer));
    result.cluster =
        with_measured_links(result.cluster, "the discovered cluster", links, catalogue);
  } else {
    result.unmeasured = true;
    result.remarks.push_back("the links are not measured: " + measured.problem);
  }
}

}  // namespace

void stage_discovery(const fs::path& folder, const DiscoveryJob& job) {
  if (job.ranks < 1 || job.ranks > kMostMachines) {
    throw InputError("", "", fmt::format("{} machines cannot be asked", job.ranks),
                     fmt::format("ask 1 to {}", kMostMachines));
  }
  stage_folder(folder, [&](const fs::path& at) {
    write_file(at / kDiscovery, json_text(Json{{"format", kDiscoveryFormat},
                                               {"version", DiscoveryJob::kVersion},
                                               {"ranks", job.ranks},
                                               {"timeout_s", job.timeout.count()}}));
  });
}

bool is_discovery(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kDiscovery, ignored);
}

DiscoveryJob load_discovery(const fs::path& folder) {
  const fs::path file = folder / kDiscovery;
  const JsonView root = JsonView::parse(read_file(file), file.string());
  root.expect_format(kDiscoveryFormat, DiscoveryJob::kVersion);
  return {static_cast<int>(root.at("ranks").integer(1, kMostMachines)),
          std::chrono::seconds(root.at("timeout_s").integer(1, 86'400))};
}

void write_report(const fs::path& folder, int rank, const MachineReport& report) {
  write_file(report_file(folder, rank), to_json(report) + "\n");
}

std::optional<MachineReport> find_report(const fs::path& folder, int rank) {
  const fs::path file = report_file(folder, rank);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  return parse_machine_report(read_file(file), file.string());
}

void finish_discovery(const fs::path& folder, const DiscoveryJob& job) {
  write_file(folder / "result.json", json_text(Json{{"machines", job.ranks}}) + "\n");
}

std::vector<MachineReport> read_reports(const fs::path& folder) {
  std::vector<MachineReport> reports;
  const int ranks = load_discovery(folder).ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    auto report = find_report(folder, rank);
    if (!report) {
      throw InputError(report_file(folder, rank).string(), "", "is not there",
                       fmt::format("see the log of rank {}", rank));
    }
    reports.push_back(std::move(*report));
  }
  return reports;
}

int machines_named(const LaunchSettings& settings) {
  const auto hosts = static_cast<int>(hosts_of(settings).size());
  return hosts > 0 ? hosts : std::max(1, count_of(settings, "nodes", 2));
}

Discovered discover(Launcher& launcher, const DiscoverOptions& options,
                    const GpuCatalogue& catalogue, const std::stop_token& stop,
                    const std::function<void(const std::string&)>& progress) {
  Discovered result;
  const int machines = machines_named(options.settings);
  progress(machines == 1 ? "asking one machine" : fmt::format("asking {} machines", machines));
  const auto reports = gather_reports(launcher, options, machines, stop, result);
  if (reports.empty()) return result;
  remark_on(reports, result);
  result.cluster = discovered_cluster(reports,
                                      {options.name, options.source, options.cpu_devices,
                                       setting_of(options.settings, "interface")},
                                      catalogue);
  if (options.measure) measure(launcher, options, catalogue, stop, progress, result);
  return result;
}

}  // namespace strato
