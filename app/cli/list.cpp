#include <CLI/CLI.hpp>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/base/quantity_text.h"
#include "core/cluster/cluster.h"

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
      list.push_back(
          {{"name", option.name}, {"default", option.default_value}, {"help", option.help}});
    print(json_text(Json{{"planner", planner}, {"options", list}}) + "\n");
    return Done;
  }
  Table table({"option", "default", "what it does"});
  for (const OptionHelp& option : options)
    table.add({option.name, option.default_value.empty() ? "-" : option.default_value,
               option.help});
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

}  // namespace

void add_list(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "list", "What there is to choose from");
  const auto what = std::make_shared<std::string>();
  sub->add_option("what", *what,
                  "planners, refiners (PLANNER+REFINER), importers, exporters, launchers, "
                  "engines, transports or gpus")
      ->required()
      ->check(CLI::IsMember(
          {"planners", "refiners", "importers", "exporters", "launchers", "engines", "transports",
           "gpus"}));
  const auto planner = std::make_shared<std::string>();
  sub->add_option("planner", *planner, "Of planners: lists the options of this one (for --set)");
  sub->callback([what, planner, &command] {
    if (!planner->empty() && *what != "planners")
      throw CLI::ValidationError("planner", "goes with \"list planners\" only");
    command.action = [what, planner, &command] {
      if (!planner->empty()) return list_options(*planner, command);
      if (*what == "gpus") return list_gpus(command);
      for (const PluginKind kind : {PluginKind::Importer, PluginKind::Planner, PluginKind::Refiner,
                                    PluginKind::Exporter, PluginKind::Engine,
                                    PluginKind::Transport}) {
        if (*what == std::string(name_of(kind)) + "s") return list_plugins(kind, *what, command);
      }
      return list_plugins(PluginKind::Launcher, *what, command);
    };
  });
}

}  // namespace strato::cli
