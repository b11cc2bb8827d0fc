#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/samples.h"
#include "core/base/quantity_text.h"
#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/cluster/value/cluster.h"
#include "core/io/json.h"

namespace strato::cli {
namespace {

int list_plugins(PluginKind kind, const std::string& title, const Command& command) {
  const auto plugins_of_kind = plugins().list(kind);
  if (command.json) {
    Json list = Json::array();
    for (const PluginInfo& plugin : plugins_of_kind) {
      list.push_back(
          {{"name", plugin.name}, {"summary", plugin.summary}, {"extensions", plugin.extensions}});
    }
    print(json_text(Json{{title, list}}) + "\n");
    return Done;
  }
  Table table({"name", "what it does"});
  for (const PluginInfo& plugin : plugins_of_kind) table.add({plugin.name, plugin.summary});
  print(table.empty() ? "no " + title + "\n" : table.text());
  return Done;
}

// Of a planner, perhaps with refiners: what --set takes.
int list_options(const std::string& planner, const Command& command) {
  const std::vector<OptionHelp> options = plugins().planner(planner)->options();
  if (command.json) {
    Json list = Json::array();
    for (const OptionHelp& option : options)
      list.push_back({{"name", option.name},
                      {"default", option.default_value},
                      {"values", option.values},
                      {"help", option.help}});
    print(json_text(Json{{"planner", planner}, {"options", list}}) + "\n");
    return Done;
  }
  Table table({"option", "default", "values", "what it does"});
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const OptionHelp& option : options)
    table.add({option.name, or_dash(option.default_value), or_dash(option.values), option.help});
  print(table.empty() ? planner + " has no options\n" : table.text());
  return Done;
}

double peak(const GpuType& gpu, Precision precision) {
  return gpu.peak_flops[static_cast<std::size_t>(precision)];
}

Json gpu_json(const GpuType& gpu) {
  Json rates = Json::object();
  for (std::size_t i = 0; i < kPrecisions; ++i) {
    if (gpu.peak_flops[i] > 0)
      rates[std::string(name_of(static_cast<Precision>(i)))] = gpu.peak_flops[i];
  }
  return {{"name", gpu.name},
          {"aliases", gpu.aliases},
          {"architecture", gpu.architecture},
          {"year", gpu.year},
          {"memory_bytes", gpu.memory.value},
          {"memory_bandwidth_bytes_per_s", gpu.memory_bandwidth},
          {"peak_flops", rates}};
}

int list_gpus(const Command& command) {
  const auto& gpus = GpuCatalogue::bundled().gpus();
  if (command.json) {
    Json list = Json::array();
    for (const GpuType& gpu : gpus) list.push_back(gpu_json(gpu));
    print(json_text(Json{{"gpus", list}}) + "\n");
    return Done;
  }
  Table table({"name", "architecture", "year", "memory", "bandwidth", "fp32/s", "fp16/s"});
  const auto rate = [](double flops) { return flops > 0 ? flops_text(flops) : std::string("-"); };
  for (const GpuType& gpu : gpus) {
    table.add({gpu.name, gpu.architecture, std::to_string(gpu.year), bytes_text(gpu.memory),
               bandwidth_text(gpu.memory_bandwidth), rate(peak(gpu, Precision::Fp32)),
               rate(peak(gpu, Precision::Fp16))});
  }
  print(table.text());
  return Done;
}

// Models are not read: that takes long.
int list_models(const Command& command) {
  const std::vector<std::string> names = sample_names(kModels);
  if (command.json)
    print(json_text(Json{{"models", names}}) + "\n");
  else
    for (const std::string& name : names) print(name + "\n");
  return Done;
}

// "4 V100-SXM2-32GB, 8 GTX-1080Ti"
std::string devices_text(const Cluster& cluster) {
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < cluster.gpu_types().size(); ++i) {
    std::size_t count = 0;
    for (std::size_t d = 0; d < cluster.device_count(); ++d)
      count += cluster.device(DeviceId(d)).type == GpuTypeId(i) ? 1 : 0;
    kinds.push_back(fmt::format("{} {}", count, cluster.gpu_types()[GpuTypeId(i)].name));
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

int list_clusters(const Command& command) {
  Json list = Json::array();
  Table table({"cluster", "devices"});
  table.align_left(1);
  for (const std::string& name : sample_names(kClusters)) {
    const Cluster cluster = read_cluster(sample_path(kClusters, name), GpuCatalogue::bundled());
    const std::string devices = devices_text(cluster);
    list.push_back({{"name", name}, {"devices", devices}});
    table.add({name, devices});
  }
  print(command.json ? json_text(Json{{"clusters", list}}) + "\n" : table.text());
  return Done;
}

}  // namespace

void add_list(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "list", "What there is to choose from");
  const auto what = std::make_shared<std::string>();
  const std::vector<std::string> kinds = {"models",     "clusters",  "planners",  "refiners",
                                          "importers",  "exporters", "launchers", "engines",
                                          "transports", "gpus"};
  const std::string choices = fmt::format("{}", fmt::join(kinds, ", "));
  sub->add_option("what", *what, "One of: " + choices)->check(CLI::IsMember(kinds));
  const auto planner = std::make_shared<std::string>();
  sub->add_option("planner", *planner, "Of planners: lists the options of this one (for --set)");
  sub->callback([what, planner, choices, &command] {
    if (what->empty()) throw CLI::ValidationError("list", "what? One of: " + choices);
    if (!planner->empty() && *what != "planners")
      throw CLI::ValidationError("planner", "goes with \"list planners\" only");
    command.action = [what, planner, &command] {
      if (!planner->empty()) return list_options(*planner, command);
      if (*what == "gpus") return list_gpus(command);
      if (*what == "models") return list_models(command);
      if (*what == "clusters") return list_clusters(command);
      for (const PluginKind kind :
           {PluginKind::Importer, PluginKind::Planner, PluginKind::Refiner, PluginKind::Exporter,
            PluginKind::Engine, PluginKind::Transport}) {
        if (*what == std::string(name_of(kind)) + "s") return list_plugins(kind, *what, command);
      }
      return list_plugins(PluginKind::Launcher, *what, command);
    };
  });
}

}  // namespace strato::cli
