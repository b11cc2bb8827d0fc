// How a plan is launched: the options that `launch` and `tune` share.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/launch/job/job.h"
#include "core/plugin/api/launcher.h"

namespace CLI {
class App;
}

namespace strato::cli {

// "key=value", as they are given with `option`. Throws InputError.
std::map<std::string, std::string> launcher_settings(const std::vector<std::string>& set,
                                                     const std::string& option);

struct LaunchOptions {
  JobOptions job;
  std::string launcher = "local", timeout = "60s";
  std::vector<std::string> set;    // of the launcher: key=value
  std::string set_name = "--set";  // the option that they are given with

  void declare(CLI::App& command);
  std::map<std::string, std::string> settings() const;  // throws InputError
  JobOptions job_options() const;                       // throws InputError
  // Throws InputError for an unknown launcher, engine or transport: ranks would find it out one by
  // one.
  void check() const;
};

LaunchRequest request_of(const LaunchOptions& options, const Job& job,
                         const std::filesystem::path& folder);

}  // namespace strato::cli
