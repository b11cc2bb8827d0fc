// Jobs of real processes that something happens to: each time an error that names the rank and the
// cause within seconds, no process left, and a folder from which the job goes on.
#pragma once

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "core/base/error.h"
#include "core/io/file.h"
#include "tests/plugins/launchers/launcher_test.h"

namespace strato {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kRanks = 3;

class Faults : public LauncherTest {
 protected:
  Faults() : LauncherTest("local", kRanks) { job.options.timeout = 60s; }

  // From the fault on.
  std::string problem_of(LaunchedJob& launched) {
    const auto start = Clock::now();
    events_of(launched);
    EXPECT_LT(Clock::now() - start, 10s);
    EXPECT_EQ(launched.state(), JobState::Failed);
    expect_none_left();
    return launched.problem();
  }
  void expect_problem(LaunchedJob& launched, const std::string& start, const std::string& part) {
    const std::string problem = problem_of(launched);
    EXPECT_EQ(problem.find(start), 0u) << problem;
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
  }
  pid_t worker(int rank) const {
    std::map<int, pid_t> workers;
    while (!workers.contains(rank)) workers = workers_of(folder.path());
    return workers[rank];
  }
  // A program that stands for the worker: a shell script, where $worker is the real one, and its
  // arguments are --job FOLDER --rank N ...
  LaunchRequest with_worker(const std::string& script) {
    const fs::path file = programs / "worker";
    write_file(file, "#!/bin/sh\nworker='" STRATO_WORKER "'\n" + script + "\n");
    ::chmod(file.c_str(), 0755);
    LaunchRequest with = request();
    with.worker = file;
    return with;
  }

  TemporaryFolder programs;
};

// The last one that is whole; empty: there is none.
inline std::string newest_checkpoint(const fs::path& folder) {
  int newest = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("checkpoint-") && fs::exists(entry.path() / "index.json"))
      newest = std::max(newest, std::stoi(name.substr(name.find('-') + 1)));
  }
  return newest == 0 ? "" : "checkpoint-" + std::to_string(newest);
}

}  // namespace strato
