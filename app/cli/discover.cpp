// stratoscope-cli discover: a cluster file from what the machines of a launcher report.
#include "core/launch/discover/discover.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/launch_job.h"
#include "app/cli/launch_options.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/quantity_text.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/io/file.h"
#include "core/launch/measured/make_job.h"

namespace strato::cli {
namespace {

struct DiscoverCommand {
  DiscoverOptions options;
  std::string output, folder;
  std::vector<std::string> set;
};

std::string now_text() {
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
}

std::string machine_line(const Cluster& cluster, const DeviceGroup& group) {
  const GpuType& type = cluster.gpu_types()[group.type];
  return fmt::format("  {}: {} x {}, {} each\n", group.name, group.devices.size(), type.name,
                     bytes_text(type.memory));
}

std::string text_of(const Cluster& cluster, const std::string& output) {
  std::string text = fmt::format(
      "discovered     {} on {}\n",
      cluster.device_count() == 1 ? "1 device" : fmt::format("{} devices", cluster.device_count()),
      cluster.machines().size() == 1 ? "1 machine"
                                     : fmt::format("{} machines", cluster.machines().size()));
  for (const DeviceGroup& group : cluster.groups()) text += machine_line(cluster, group);
  return text + "written to     " + output + "\n";
}

Json json_of(const Cluster& cluster, const Discovered& found, const std::string& output,
             double seconds) {
  Json remarks = Json::array();
  for (const std::string& remark : found.remarks) remarks.push_back(remark);
  return {{"cluster", output},
          {"name", cluster.name()},
          {"machines", cluster.machines().size()},
          {"devices", cluster.device_count()},
          {"digest", cluster.digest().hex()},
          {"remarks", remarks},
          {"wall_s", seconds}};
}

int discover_cluster(const DiscoverCommand& given, const Command& command) {
  Interrupt interrupt;
  check_writable(given.output, {});
  DiscoverOptions options = given.options;
  options.settings = launcher_settings(given.set, "--set");
  const auto launcher = plugins().launcher(options.launcher);
  JobFolder folder(given.folder, options.launcher != "local");
  options.folder = folder.path();
  options.worker = worker_program();
  options.source =
      fmt::format("stratoscope-cli discover, launcher {}, {}", options.launcher, now_text());
  ProgressLine line;
  interrupt.arm();
  const Discovered found = discover(*launcher, options, GpuCatalogue::bundled(), interrupt.token(),
                                    [&](const std::string& text) { line.show(text); });
  line.clear();
  if (found.state != JobState::Finished) {
    return report_unfinished({found.state, found.problem}, "the machines cannot be asked", folder,
                             command);
  }
  for (const std::string& each : found.remarks) {
    if (!command.json) remark(each);
  }
  if (found.unmeasured) {
    folder.keep();
    remark("logs are in " + (folder.path() / "measure").string());
  }
  write_file(given.output, found.cluster);
  const Cluster cluster = read_cluster(given.output, GpuCatalogue::bundled());
  print(command.json
            ? json_text(json_of(cluster, found, given.output, command.wall_seconds())) + "\n"
            : text_of(cluster, given.output));
  return Done;
}

}  // namespace

void add_discover(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "discover",
                              "Write a cluster file from what the machines of a launcher report");
  const auto given = std::make_shared<DiscoverCommand>();
  DiscoverOptions& options = given->options;
  sub->add_option("-o,--output", given->output, "The cluster file")->required();
  sub->add_option("--launcher", options.launcher, "See: list launchers")->capture_default_str();
  sub->add_option("--set", given->set,
                  "The launcher's own setting: key=value; slurm: nodes=2 for two machines, "
                  "exclusive=yes or gpus-per-task=8 to see their GPUs; mpi: hostfile=FILE");
  sub->add_option("--name", options.name, "Of the cluster")->capture_default_str();
  sub->add_option("--cpu-devices", options.cpu_devices,
                  "Of a machine without GPUs: they share its cores and memory")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  sub->add_flag("--measure", options.measure,
                "Measure bandwidth and latency between the devices, too");
  sub->add_option("--job", given->folder,
                  "Folder for the job, which all nodes see; else a temporary one");
  sub->callback([given, &command] {
    command.action = [=, &command] { return discover_cluster(*given, command); };
  });
}

}  // namespace strato::cli
