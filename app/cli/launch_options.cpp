#include "app/cli/launch_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/cli/context.h"
#include "core/base/error.h"
#include "core/launch/measured/make_job.h"

namespace strato::cli {
namespace {

void check_plugin(PluginKind kind, const std::string& name) {
  std::vector<std::string> known;
  for (const PluginInfo& plugin : plugins().list(kind)) known.push_back(plugin.name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw InputError("", fmt::format("--{}", name_of(kind)), fmt::format("there is no \"{}\"", name),
                   fmt::format("choose one of: {}", fmt::join(known, ", ")));
}

}  // namespace

void LaunchOptions::declare(CLI::App& command) {
  command.add_option("--launcher", launcher, "See: list launchers")->capture_default_str();
  command.add_option(set_name, set, "A launcher's own setting: key=value");
  command.add_option("--steps", job.steps, "Steps")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000'000));
  command.add_option("--warm-up", job.warm_up, "Steps that the mean leaves out")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  command.add_option("--engine", job.engine, "torch computes; replay takes the simulated times")
      ->capture_default_str();
  command.add_option("--transport", job.transport, "See: list transports")->capture_default_str();
  command.add_option("--device", job.device, "cpu or cuda")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command.add_option("--learning-rate", job.learning_rate, "Else 0.01, of Adam 0.001");
  command.add_option("--timeout", timeout, "A rank without progress for so long is hung")
      ->capture_default_str();
}

std::map<std::string, std::string> launcher_settings(const std::vector<std::string>& set,
                                                     const std::string& option) {
  std::map<std::string, std::string> settings;
  for (const std::string& text : set) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("", option, "\"" + text + "\" has no value", "write key=value");
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return settings;
}

std::map<std::string, std::string> LaunchOptions::settings() const {
  return launcher_settings(set, set_name);
}

JobOptions LaunchOptions::job_options() const {
  JobOptions options = job;
  options.timeout = std::chrono::seconds(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(parse_duration(timeout, "--timeout"))));
  return options;
}

void LaunchOptions::check() const {
  plugins().launcher(launcher);
  check_plugin(PluginKind::Engine, job.engine);
  check_plugin(PluginKind::Transport, job.transport);
}

LaunchRequest request_of(const LaunchOptions& options, const Job& job,
                         const std::filesystem::path& folder) {
  LaunchRequest request;
  request.folder = folder;
  request.worker = worker_program();
  request.ranks = static_cast<int>(job.devices.size());
  request.machines = job.machines;
  request.settings = options.settings();
  return request;
}

}  // namespace strato::cli
