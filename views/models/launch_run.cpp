#include "views/models/launch_run.h"

#include <chrono>
#include <fstream>
#include <vector>

#include "core/base/error.h"
#include "core/launch/job/job.h"
#include "core/launch/job/job_result.h"
#include "core/launch/measured/make_job.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kTick = 50ms;
constexpr auto kLogInterval = 300ms;
constexpr std::streamoff kMostAtOnce = 64 * 1024;  // of a log: of more, the end

// Reads what has been added to the ranks' logs.
class LogReader {
 public:
  LogReader(std::filesystem::path folder, std::size_t ranks)
      : folder_(std::move(folder)), read_(ranks, 0) {}

  void tell(LaunchListener& listener) {
    for (std::size_t rank = 0; rank < read_.size(); ++rank) {
      const std::string added = added_to(rank);
      if (!added.empty()) listener.on_log(static_cast<int>(rank), added);
    }
    last_ = Clock::now();
  }
  void tell_when_due(LaunchListener& listener) {
    if (Clock::now() - last_ >= kLogInterval) tell(listener);
  }

 private:
  std::string added_to(std::size_t rank) {
    std::ifstream log(folder_ / ("log-" + std::to_string(rank) + ".txt"), std::ios::binary);
    log.seekg(0, std::ios::end);
    const std::streamoff size = log.tellg();
    if (!log || size <= read_[rank]) return {};
    const std::streamoff from = std::max(read_[rank], size - kMostAtOnce);
    std::string text(static_cast<std::size_t>(size - from), '\0');
    log.seekg(from);
    log.read(text.data(), size - from);
    text.resize(static_cast<std::size_t>(log.gcount()));
    read_[rank] = size;
    return text;
  }

  const std::filesystem::path folder_;
  std::vector<std::streamoff> read_;  // by rank
  Clock::time_point last_;
};

// What rank 0 said of a failure, where the launcher knows less.
struct Told {
  std::string failure;

  void take(const std::string& line, LaunchListener& listener) {
    const std::optional<JobEvent> event = parse_event(line);
    if (!event) return listener.on_output(line);
    if (event->kind == JobEvent::Kind::Failed && failure.empty())
      failure = "rank " + std::to_string(event->rank) + ": " + event->text;
    listener.on_event(*event);
  }
};

void drain(LaunchedJob& job, Told& told, LaunchListener& listener) {
  while (const auto line = job.next_line(0ms)) told.take(*line, listener);
}

LaunchEnd follow(LaunchedJob& job, LogReader& logs, LaunchListener& listener,
                 const std::stop_token& stop, const std::stop_token& leave) {
  Told told;
  JobState last = JobState::Waiting;
  for (;;) {
    if (stop.stop_requested()) {
      job.cancel();
      drain(job, told, listener);
      return {JobState::Cancelled, {}, nullptr};
    }
    if (leave.stop_requested()) return {JobState::Running, {}, nullptr};
    if (const auto line = job.next_line(kTick)) told.take(*line, listener);
    const JobState state = job.state();
    if (state != last) listener.on_state(last = state);
    logs.tell_when_due(listener);
    if (!is_over(state)) continue;
    drain(job, told, listener);
    std::string problem = job.problem();
    if (problem.empty()) problem = told.failure;
    const bool bad = state == JobState::Finished && !problem.empty();
    return {bad ? JobState::Failed : state, problem, nullptr};
  }
}

Job job_of(const LaunchPlan& plan) {
  const JobOptions& options = plan.choice.options;
  if (!plan.problem) return make_job(*plan.predicted, plan.name, options);
  return make_job(*plan.predicted, {*plan.problem, plan.strategy, plan.costs}, plan.name, options);
}

std::shared_ptr<const MeasuredStep> gather(const LaunchPlan& plan, const Job& job,
                                           JobResult result) {
  auto measured = std::make_shared<MeasuredStep>();
  measured->predicted = plan.predicted;
  measured->result = std::move(result);
  measured->devices = devices_of(job);
  measured->timeline = std::make_shared<const Timeline>(
      measured_timeline(*plan.predicted, measured->result, measured->devices));
  measured->comparison =
      compare_timelines(*plan.predicted, *measured->timeline, measured->result.step_time);
  return measured;
}

LaunchRequest request_of(const LaunchPlan& plan, const Job& job) {
  LaunchRequest request;
  request.folder = plan.folder;
  request.worker = plan.worker;
  request.ranks = static_cast<int>(job.devices.size());
  request.machines = job.machines;
  request.settings = plan.choice.settings;
  return request;
}

std::unique_ptr<LaunchedJob> launched_job(const LaunchPlan& plan, const Job& job,
                                          Launcher& launcher) {
  if (plan.job.empty()) return launcher.launch(request_of(plan, job));
  if (load_rank(plan.folder, 0).digest != job_digest(job)) {
    throw InputError(plan.folder.string(), "", "is the job of another plan, or of other costs",
                     "open the strategy and the costs that it was launched with");
  }
  return launcher.attach(plan.job, plan.folder);
}

LaunchEnd run(const LaunchPlan& plan, const LauncherFactory& make, LaunchListener& listener,
              const std::stop_token& stop, const std::stop_token& leave) {
  const Job job = job_of(plan);
  if (plan.job.empty()) stage_job(plan.folder, job);
  if (stop.stop_requested()) return {JobState::Cancelled, {}, nullptr};
  const std::unique_ptr<Launcher> launcher = make(plan.choice.launcher);
  listener.on_state(JobState::Waiting);
  LogReader logs(plan.folder, job.devices.size());
  const std::unique_ptr<LaunchedJob> launched = launched_job(plan, job, *launcher);
  listener.on_launched(launched->id());
  LaunchEnd end = follow(*launched, logs, listener, stop, leave);
  logs.tell(listener);
  if (end.state == JobState::Finished) end.measured = gather(plan, job, read_result(plan.folder));
  return end;
}

}  // namespace

bool outlives_the_program(const std::string& job) { return job.starts_with("slurm:"); }

LaunchEnd run_launch(const LaunchPlan& plan, const LauncherFactory& make, LaunchListener& listener,
                     const std::stop_token& stop, const std::stop_token& leave) {
  try {
    return run(plan, make, listener, stop, leave);
  } catch (const std::exception& error) {
    return {JobState::Failed, error.what(), nullptr};
  }
}

std::shared_ptr<const MeasuredStep> measured_from(const LaunchPlan& plan, const JobResult& result) {
  const Job job = job_of(plan);
  const auto ranks = static_cast<int>(job.devices.size());
  for (const MeasuredTask& task : result.tasks) {
    if (task.task.index() < plan.predicted->tasks.size() && task.rank >= 0 && task.rank < ranks)
      continue;
    throw InputError("", "", "the stored launch has tasks that its plan lacks",
                     "it was made with another version or other costs");
  }
  return gather(plan, job, result);
}

}  // namespace strato
