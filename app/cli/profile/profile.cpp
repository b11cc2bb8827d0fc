// Measures the ops of a model on a device of this machine and writes what they took.
#include "core/cost/value/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "app/cli/command.h"
#include "app/cli/context.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/profile/options.h"
#include "app/cli/profile/report.h"
#include "app/cli/samples.h"
#include "core/base/error.h"
#include "core/launch/profiling/op_times.h"

namespace strato::cli {
namespace {

struct Choice {
  std::unique_ptr<Engine> engine;
  EngineDevice device;
};

Choice engine_for(const std::string& device) {
  std::vector<std::string> known;
  for (const PluginInfo& plugin : plugins().list(PluginKind::Engine)) {
    auto engine = plugins().engine(plugin.name);
    for (const EngineDevice& each : engine->devices()) {
      if (each.name == device) return {std::move(engine), each};
      known.push_back(each.name);
    }
  }
  if (known.empty()) {
    throw InputError("", "--device", "this Stratoscope has no compute engine",
                     "install LibTorch (libtorch-dev) and build again");
  }
  throw InputError("", "--device", fmt::format("there is no device \"{}\" here", device),
                   fmt::format("use one of: {}", fmt::join(known, ", ")));
}

std::string device_type(const std::string& device) {  // "cuda:0" -> "cuda"
  return device.substr(0, device.find(':'));
}

ProfileResult measure_all(const ProfileOptions& options, const Choice& choice,
                          Interrupt& interrupt) {
  ProfileResult result;
  const auto graphs = graphs_of(options, result.model, halves);
  result.graph = graphs.front();
  for (const auto& graph : graphs) check_memory(*graph, choice.device);
  result.device = options.device;
  OpTimesOptions how;
  how.repetitions = options.repetitions;
  how.engine.device = options.device;
  how.engine.threads = options.threads;
  how.engine.seed = options.seed;
  ProgressLine line;
  interrupt.arm();
  for (std::size_t i = 0; i < graphs.size() && !interrupt.requested(); ++i) {
    const auto progress = [&](double share) {
      line.show(fmt::format("batch {} ({} of {}): {:.0f} %", graphs[i]->batch(), i + 1,
                            graphs.size(), 100 * share));
    };
    const ProfiledGraph measured =
        measure_ops(*choice.engine, graphs[i], how, interrupt.token(), progress);
    add_ops(result.profile, measured, result.model, device_type(options.device), i == 0);
    if (i == 0) result.ops = measured.ops;
    if (!measured.ops.empty()) result.steps.push_back(measured.step);
  }
  result.stopped = interrupt.requested();
  return result;
}

// More threads than cores wait for each other: some are fair to try, a thousand measure nothing.
void check_threads(int threads) {
  constexpr int kPerCore = 4;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (threads <= kPerCore * cores) return;
  throw InputError(
      "", "--threads",
      fmt::format("{} threads are too many for the {} cores of this machine", threads, cores),
      fmt::format("give 1 to {}", cores));
}

int profile(const ProfileOptions& options, const Command& command) {
  Interrupt interrupt;
  if (options.model.graph.empty()) {
    throw InputError("", "--graph", "is missing",
                     "name a model, or measure the communication of a --cluster");
  }
  check_threads(options.threads);
  check_writable(options.output, {model_path(options.model.graph), options.merged});
  optimizer_from(options.model.optimizer);
  const Profile other = options.merged.empty() ? Profile() : read_profile(options.merged);
  const Choice choice = engine_for(options.device);
  ProfileResult result = measure_all(options, choice, interrupt);
  result.profile.host = fmt::format("{}, {} thread{}", choice.device.hardware, options.threads,
                                    options.threads == 1 ? "" : "s");
  result.profile.software = choice.engine->software();
  if (result.steps.empty()) {
    remark("stopped before a step was measured: nothing is written");
    return Infeasible;
  }
  result.profile.name = profile_name(result);
  result.profile = normalised(std::move(result.profile));
  if (const std::string warning = mixture_warning(result.profile, other); !warning.empty()) {
    result.warnings.push_back(warning);
    remark(warning);
  }
  const Profile all = other.empty() ? result.profile : merge(result.profile, other);
  if (!options.output.empty()) write_profile(options.output, all);
  result.output = options.output;
  print(command.json ? json_text(profile_json(result, command.wall_seconds())) + "\n"
                     : profile_text(result));
  return Done;
}

}  // namespace

void add_profile(CLI::App& app, Command& command) {
  CLI::App* sub = add_command(app, command, "profile",
                              "Measure the ops of a model on this machine, or over a cluster");
  const auto options = std::make_shared<ProfileOptions>();
  options->declare(*sub);
  sub->callback([options, &command] {
    command.action = [=, &command] {
      return options->cluster.empty() ? profile(*options, command)
                                      : profile_cluster(*options, command);
    };
  });
}

}  // namespace strato::cli
