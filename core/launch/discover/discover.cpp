#include "core/launch/discover/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/read/discovered_cluster.h"
#include "core/io/file.h"
#include "core/launch/measure/discovery_job.h"
#include "core/launch/measure/measure_job.h"
#include "core/launch/measure/measure_result.h"
#include "core/launch/profiling/measure_on.h"
#include "core/plugin/use/follow.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

int hosts_named(const std::string& file) {
  std::set<std::string> hosts;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    hosts.insert(host == "127.0.0.1" || host == "::1" ? "localhost" : host);
  }
  if (hosts.empty()) throw InputError(file, "", "names no host", "write one a line: node1 slots=4");
  return static_cast<int>(hosts.size());
}

LaunchRequest request_of(const DiscoverOptions& options, int machines) {
  LaunchRequest request;
  request.folder = options.folder;
  request.worker = options.worker;
  request.ranks = machines;
  request.machines.resize(static_cast<std::size_t>(machines));
  std::iota(request.machines.begin(), request.machines.end(), 0);
  request.settings = options.settings;
  return request;
}

// The reports of all machines, or nothing with the state and problem in `result`.
std::vector<MachineReport> gather_reports(Launcher& launcher, const DiscoverOptions& options,
                                          int machines, const std::stop_token& stop,
                                          Discovered& result) {
  stage_discovery(options.folder, {machines, 60s});
  const auto job = launcher.launch(request_of(options, machines));
  JobEnd end = follow(*job, stop, [](const std::string&) {});
  result.state = end.state;
  result.problem = std::move(end.problem);
  if (result.state != JobState::Finished) return {};
  try {
    return read_reports(options.folder);
  } catch (const InputError& error) {
    result.state = JobState::Failed;
    result.problem = error.what();
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

std::string interface_of(const DiscoverOptions& options) {
  const auto found = options.settings.find("interface");
  return found == options.settings.end() ? "" : found->second;
}

struct LinkRequest {
  const Cluster& cluster;
  std::filesystem::path folder, worker;
  std::map<std::string, std::string> settings;  // the launcher's
};

struct LinkMeasurement {
  JobState state = JobState::Failed;
  std::string problem;
  std::vector<MeasuredLink> links;
  std::vector<std::string> notes;
};

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

// Bandwidth and latency between the devices of a cluster, measured by a job of their own.
LinkMeasurement measure_links(Launcher& launcher, const LinkRequest& request,
                              const std::stop_token& stop,
                              const std::function<void(const std::string&)>& progress) {
  const MeasureJob job = make_measure_job(request.cluster, request.cluster.name(), {},
                                          measure_options(request.cluster));
  MeasureRun run =
      measure_on(launcher, job, request.folder, request.worker, request.settings, stop,
                 [&](const MeasureEvent& event) { progress("measuring " + event.what); });
  LinkMeasurement result{run.state, std::move(run.problem), {}, std::move(run.result.notes)};
  for (const TransferProfile& transfer : run.result.profile.transfers)
    if (transfer.measurements.size() >= 2) result.links.push_back(link_of(transfer));
  return result;
}

// One that cannot even be started has failed, too.
LinkMeasurement try_to_measure(Launcher& launcher, const LinkRequest& request,
                               const std::stop_token& stop,
                               const std::function<void(const std::string&)>& progress) {
  try {
    return measure_links(launcher, request, stop, progress);
  } catch (const InputError& error) {
    return {JobState::Failed, error.what(), {}, {}};
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
  const LinkMeasurement measured = try_to_measure(
      launcher, {cluster, options.folder / "measure", options.worker, options.settings}, stop,
      progress);
  if (measured.state == JobState::Cancelled) {
    result.state = JobState::Cancelled;
  } else if (measured.state == JobState::Finished) {
    for (const std::string& note : measured.notes) result.remarks.push_back(note);
    result.cluster =
        with_measured_links(result.cluster, "the discovered cluster", measured.links, catalogue);
  } else {
    result.unmeasured = true;
    result.remarks.push_back("the links are not measured: " + measured.problem);
  }
}

}  // namespace

int machines_named(const std::map<std::string, std::string>& settings) {
  if (const auto file = settings.find("hostfile"); file != settings.end())
    return hosts_named(file->second);
  const auto nodes = settings.find("nodes");
  if (nodes == settings.end()) return 1;
  const std::string& text = nodes->second;
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1)
    throw InputError("", "--set nodes", "\"" + text + "\" is no positive number", "write nodes=2");
  return count;
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
  result.cluster = discovered_cluster(
      reports, {options.name, options.source, options.cpu_devices, interface_of(options)},
      catalogue);
  if (options.measure) measure(launcher, options, catalogue, stop, progress, result);
  return result;
}

}  // namespace strato
