// Jobs of real workers that replay a toy program, whoever starts them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/launch/job/job.h"
#include "core/launch/job/job_result.h"
#include "core/plugin/load/plugin_registry.h"
#include "tests/core/launch/job/staged_job.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/paths.h"
#include "tests/worker_processes.h"

namespace strato {

inline bool under_way(LaunchedJob& job) {
  const JobState state = job.state();
  return state == JobState::Waiting || state == JobState::Running;
}

// All events until the job's end.
inline std::vector<JobEvent> events_of(LaunchedJob& job) {
  std::vector<JobEvent> events;
  const auto take = [&](const std::string& line) {
    if (const auto event = parse_event(line)) events.push_back(*event);
  };
  do {
    while (const auto line = job.next_line(std::chrono::milliseconds(50))) take(*line);
  } while (under_way(job));
  while (const auto line = job.next_line(std::chrono::milliseconds(0))) take(*line);
  return events;
}

inline void wait_for(LaunchedJob& job, JobEvent::Kind kind) {
  for (;;) {
    const auto line = job.next_line(std::chrono::milliseconds(50));
    if (!line && !under_way(job)) break;
    const auto event = line ? parse_event(*line) : std::nullopt;
    if (event && event->kind == kind) return;
  }
  FAIL() << job.problem();
}

class LauncherTest : public ::testing::Test {
 protected:
  LauncherTest(const std::string& name, int ranks)
      : ranks_(ranks), job(toy::job(ranks)), launcher(plugins.launcher(name)) {
    job.options.engine = "replay";
    job.options.steps = 3;
    job.options.timeout = std::chrono::seconds(30);
  }

  // Every task takes so long.
  void slow(Nanos each) {
    for (RankProgram& rank : job.programs.ranks) {
      for (Instruction& instruction : rank.instructions) instruction.duration = each;
    }
  }
  // Goes on until something ends it.
  void endless() {
    slow(Nanos(1'000'000));
    job.options.steps = 100'000;
  }
  LaunchRequest request() const {
    LaunchRequest request{folder.path(),
                          STRATO_WORKER,
                          ranks_,
                          std::vector<int>(static_cast<std::size_t>(ranks_), 0),
                          {}};
    return request;
  }
  std::unique_ptr<LaunchedJob> launch(const LaunchRequest& request) {
    stage_job(folder.path(), job);
    return launcher->launch(request);
  }
  std::unique_ptr<LaunchedJob> launch() { return launch(request()); }
  void expect_none_left() { EXPECT_TRUE(workers_of(folder.path()).empty()); }

 private:
  int ranks_;

 protected:
  TemporaryFolder folder;
  Job job;
  PluginRegistry plugins{{std::filesystem::path(kBuildFolder) / "plugins"}};
  std::unique_ptr<Launcher> launcher;
};

}  // namespace strato
