#include "core/launch/profiling/measure_on.h"

#include <utility>

#include "core/plugin/use/follow.h"

namespace strato {
namespace {

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

}  // namespace

MeasureRun follow_measuring(LaunchedJob& launched, const std::filesystem::path& folder,
                            const std::stop_token& stop,
                            const std::function<void(const MeasureEvent&)>& progress) {
  JobEnd end = follow(launched, stop, [&](const std::string& line) {
    if (const auto event = parse_measure_event(line)) progress(*event);
  });
  MeasureRun run{end.state, std::move(end.problem), {}};
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
