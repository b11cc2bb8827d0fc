#include "core/launch/measured/result_text.h"

#include <limits>

#include "core/io/json.h"
#include "core/launch/job/job_result.h"

namespace strato {
namespace {

constexpr const char* kFormat = "stratoscope-launch";
constexpr int kVersion = 1;
constexpr std::int64_t kMaxId = (std::int64_t{1} << 31) - 1;

MeasuredTask task_of(const JsonView& row) {
  const std::vector<JsonView> fields = row.items();
  if (fields.size() != 4) row.fail("is not [task, rank, start, end]", "write four numbers");
  return {TaskId(static_cast<std::size_t>(fields[0].integer(0, kMaxId))),
          static_cast<int>(fields[1].integer(0, kMaxId)), Nanos(fields[2].integer()),
          Nanos(fields[3].integer())};
}

}  // namespace

std::string result_text(const JobResult& result) {
  Json times = Json::array(), peaks = Json::array(), tasks = Json::array();
  for (const Nanos time : result.step_times) times.push_back(time.value);
  for (const Bytes peak : result.peaks) peaks.push_back(peak.value);
  for (const MeasuredTask& task : result.tasks)
    tasks.push_back({task.task.value(), task.rank, task.start.value, task.end.value});
  return json_text(Json{{"format", kFormat},
                        {"version", kVersion},
                        {"step_time_ns", result.step_time.value},
                        {"step_times_ns", times},
                        {"losses", result.losses},
                        {"peaks", peaks},
                        {"tasks", tasks}});
}

JobResult parse_result(const std::string& text, const std::string& name) {
  const JsonView json = JsonView::parse(text, name);
  json.expect_format(kFormat, kVersion);
  JobResult result;
  result.step_time = Nanos(json.at("step_time_ns").integer(0));
  for (const JsonView& time : json.at("step_times_ns").items())
    result.step_times.emplace_back(time.integer(0));
  for (const JsonView& loss : json.at("losses").items()) {
    // A loss that is not finite is null in JSON.
    result.losses.push_back(loss.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                           : loss.number());
  }
  for (const JsonView& peak : json.at("peaks").items()) result.peaks.emplace_back(peak.integer(0));
  for (const JsonView& task : json.at("tasks").items()) result.tasks.push_back(task_of(task));
  return result;
}

}  // namespace strato
