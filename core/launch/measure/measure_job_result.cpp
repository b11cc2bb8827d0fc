// What a measurement job reports on its way and leaves as its result, and its whole way.
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/measure/measure_job.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMeasuredFormat = "stratoscope-measured";
constexpr const char* kEvent = "measuring";

}  // namespace

std::string to_json_line(const MeasureEvent& event) {
  return json_text(Json{{"event", kEvent},
                        {"what", event.what},
                        {"done", event.done},
                        {"of", event.of},
                        {"left_ms", event.left.count()}});
}

std::optional<MeasureEvent> parse_measure_event(const std::string& line) {
  try {
    const JsonView json = JsonView::parse(line, "");
    if (json.at("event").string() != kEvent) return std::nullopt;
    const std::int64_t done = json.at("done").integer(0);
    return MeasureEvent{json.at("what").string(), done, json.at("of").integer(done),
                        std::chrono::milliseconds(json.at("left_ms").integer(0))};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void write_measure_result(const fs::path& folder, const MeasureResult& result) {
  write_profile(folder / "profile.json", result.profile);
  const Json json = {{"format", kMeasuredFormat},
                     {"version", 1},
                     {"seconds", result.seconds},
                     {"notes", result.notes}};
  write_file(folder / "measured.json", json_text(json, 1) + "\n");
}

MeasureResult read_measure_result(const fs::path& folder) {
  const fs::path file = folder / "measured.json";
  const JsonView root = JsonView::parse(read_file(file), file.string());
  root.expect_format(kMeasuredFormat, 1);
  MeasureResult result;
  result.seconds = root.at("seconds").number(0);
  for (const JsonView& note : root.at("notes").items()) result.notes.push_back(note.string());
  result.profile = read_profile(folder / "profile.json");
  return result;
}

MeasureRun measure_on(Launcher& launcher, const MeasureJob& job,
                      const std::filesystem::path& folder, const std::filesystem::path& worker,
                      const LaunchSettings& settings, const std::stop_token& stop,
                      const std::function<void(const MeasureEvent&)>& progress) {
  stage_measure_job(folder, job);
  LaunchRequest request{folder, worker, static_cast<int>(job.ranks.size()), {}, settings};
  for (const MeasureJob::Rank& rank : job.ranks) request.machines.push_back(rank.machine);
  const auto launched = launcher.launch(request);
  const auto told = [&](const std::string& line) {
    if (const auto event = parse_measure_event(line)) progress(*event);
  };
  MeasureRun run{follow(*launched, stop, told), {}};
  if (run.state == JobState::Finished) run.result = read_measure_result(folder);
  return run;
}

}  // namespace strato
