// A launch from beginning to end, on the thread of its caller: stage, start, follow, gather.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "core/cost/model/measured_cost_model.h"
#include "core/launch/job/job_result.h"
#include "core/launch/measured/measured.h"
#include "core/plugin/api/launcher.h"
#include "core/search/api/problem.h"
#include "views/models/launch_preview.h"

namespace strato {

using LauncherFactory = std::function<std::unique_ptr<Launcher>(std::string_view)>;

// Told on the thread of run_launch, one call at a time.
class LaunchListener {
 public:
  virtual ~LaunchListener() = default;
  virtual void on_state(JobState state) = 0;               // Waiting once it is staged
  virtual void on_launched(const std::string& /*job*/) {}  // the launcher's name of it
  virtual void on_event(const JobEvent& event) = 0;
  virtual void on_output(const std::string& line) = 0;         // of rank 0, that is no event
  virtual void on_log(int rank, const std::string& text) = 0;  // what was added to its log
};

struct LaunchPlan {
  std::string name;
  std::shared_ptr<const Timeline> predicted;
  LaunchChoice choice;
  std::filesystem::path folder;  // of the job; is made
  std::filesystem::path worker;
  std::string job = {};  // one that was launched before, from that folder: it is followed
  // What `predicted` was lowered from: the plan that ranks make their programs of. Null: the
  // programs are made here.
  std::shared_ptr<const Problem> problem = nullptr;
  Strategy strategy = {};
  CostSources costs = {};
};

// Whether the job goes on when the program that launched it has ended; by the launcher's name of
// it.
bool outlives_the_program(const std::string& job);

// What a finished job took, beside what was predicted.
struct MeasuredStep {
  std::shared_ptr<const Timeline> predicted, timeline;
  JobResult result;
  Comparison comparison;
  std::vector<DeviceId> devices;  // by rank
};

struct LaunchEnd {
  JobState state = JobState::Failed;
  std::string problem;                           // with the rank and the cause; empty: none
  std::shared_ptr<const MeasuredStep> measured;  // of a job that finished
};

// Blocks; never throws. `stop` cancels the job: no process of it is left when this returns. `leave`
// follows it no more; one that outlives the program goes on, and the end is Running.
LaunchEnd run_launch(const LaunchPlan& plan, const LauncherFactory& make, LaunchListener& listener,
                     const std::stop_token& stop, const std::stop_token& leave = {});

// What a stored result took, beside what is predicted now. Throws InputError when it is not of the
// same tasks.
std::shared_ptr<const MeasuredStep> measured_from(const LaunchPlan& plan, const JobResult& result);

}  // namespace strato
