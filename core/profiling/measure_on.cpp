#include "core/profiling/measure_on.h"

#include "core/job/job.h"

namespace strato {
namespace {

using namespace std::chrono_literals;

LaunchRequest request_for(const MeasureJob& job, const std::filesystem::path& folder,
                          const std::filesystem::path& worker,
                          const std::map<std::string, std::string>& settings) {
  LaunchRequest request;
  request.folder = folder;
  request.worker = worker;
  request.ranks = static_cast<int>(job.ranks.size());
  for (const MeasureJob::Rank& rank : job.ranks) request.machines.push_back(rank.machine);
  request.settings = settings;
  return request;
}

// What rank 0 says: progress, and who failed.
class Listener {
 public:
  explicit Listener(const std::function<void(const MeasureEvent&)>& progress)
      : progress_(progress) {}
  void take(const std::string& line) {
    if (const auto event = parse_measure_event(line)) return progress_(*event);
    const auto event = parse_event(line);
    if (event && event->kind == JobEvent::Kind::Failed)
      problem_ = "rank " + std::to_string(event->rank) + ": " + event->text;
  }
  const std::string& problem() const { return problem_; }

 private:
  const std::function<void(const MeasureEvent&)>& progress_;
  std::string problem_;
};

}  // namespace

MeasureRun follow_measuring(LaunchedJob& launched, const std::filesystem::path& folder,
                            const std::stop_token& stop,
                            const std::function<void(const MeasureEvent&)>& progress) {
  Listener listener(progress);
  MeasureRun run;
  run.state = JobState::Waiting;
  do {
    if (stop.stop_requested()) launched.cancel();
    if (const auto line = launched.next_line(100ms)) {
      listener.take(*line);
      continue;
    }
    run.state = launched.state();
  } while (run.state == JobState::Waiting || run.state == JobState::Running);
  while (const auto line = launched.next_line(0ms)) listener.take(*line);
  run.problem = launched.problem();
  if (run.problem.empty()) run.problem = listener.problem();
  if (run.state == JobState::Finished) run.result = read_measure_result(folder);
  return run;
}

MeasureRun measure_on(Launcher& launcher, const MeasureJob& job,
                      const std::filesystem::path& folder, const std::filesystem::path& worker,
                      const std::map<std::string, std::string>& settings,
                      const std::stop_token& stop,
                      const std::function<void(const MeasureEvent&)>& progress) {
  stage_measure_job(folder, job);
  const auto launched = launcher.launch(request_for(job, folder, worker, settings));
  return follow_measuring(*launched, folder, stop, progress);
}

}  // namespace strato
