#include "core/launch/job/job_result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/io/container.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/job/job_file.h"

namespace strato {
namespace {

namespace fs = std::filesystem;
using Kind = JobEvent::Kind;

constexpr std::array<std::string_view, 4> kNames = {"started", "step", "failed", "finished"};

// Reals that may be infinite or not a number, which JSON lacks: as texts.
Json real_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double loss_from(const JsonView& view) {
  const Json& json = view.json();
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  view.fail("is not a loss", "run the job again");
}

constexpr std::string_view kResultFormat = "stratoscope-job-result";
constexpr std::string_view kTextFormat = "stratoscope-launch";
constexpr std::int64_t kMaxId = (std::int64_t{1} << 31) - 1;
constexpr ContainerKind kTasks{"stratoscope-measured-step", 1, "a measured step",
                               "run the job again"};

// Task, rank, start and end of each.
std::string write_tasks(const std::vector<MeasuredTask>& tasks) {
  std::vector<std::int64_t> numbers;
  for (const MeasuredTask& each : tasks)
    numbers.insert(numbers.end(), {each.task.value(), each.rank, each.start.value, each.end.value});
  return write_container(kTasks, packed(numbers));
}

std::vector<MeasuredTask> read_tasks(const std::string& bytes, std::size_t ranks,
                                     const std::string& file) {
  const auto numbers = unpacked<std::int64_t>(read_container(bytes, kTasks, file).value);
  if (numbers.size() % 4 != 0) kTasks.refuse_damaged(file, "it has a task in part");
  std::vector<MeasuredTask> tasks;
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    const std::int64_t task = numbers[i], rank = numbers[i + 1];
    if (task < 0 || task > kMaxId || rank < 0 || rank >= static_cast<std::int64_t>(ranks))
      kTasks.refuse_damaged(file, "a task or rank is out of range");
    tasks.push_back({TaskId(static_cast<std::size_t>(task)), static_cast<int>(rank),
                     Nanos(numbers[i + 2]), Nanos(numbers[i + 3])});
    if (tasks.back().end < tasks.back().start)
      kTasks.refuse_damaged(file, "a task ends before it starts");
  }
  return tasks;
}

template <class T>
Json values_of(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T element : list) json.push_back(element.value);
  return json;
}

// The fields that both texts have.
Json common_json(std::string_view format, const JobResult& result) {
  return {{"format", format},
          {"version", 1},
          {"step_time_ns", result.step_time.value},
          {"step_times_ns", values_of(result.step_times)}};
}

JobResult read_common(const JsonView& root, std::string_view format, const char* peaks) {
  root.expect_format(format, 1);
  JobResult result;
  result.step_time = Nanos(root.at("step_time_ns").integer(0));
  for (const JsonView& time : root.at("step_times_ns").items())
    result.step_times.emplace_back(time.integer(0));
  for (const JsonView& peak : root.at(peaks).items()) result.peaks.emplace_back(peak.integer(0));
  return result;
}

MeasuredTask task_of(const JsonView& row) {
  const std::vector<JsonView> fields = row.items();
  if (fields.size() != 4) row.fail("is not [task, rank, start, end]", "write four numbers");
  return {TaskId(static_cast<std::size_t>(fields[0].integer(0, kMaxId))),
          static_cast<int>(fields[1].integer(0, kMaxId)), Nanos(fields[2].integer()),
          Nanos(fields[3].integer())};
}

}  // namespace

std::string to_json_line(const JobEvent& event) {
  Json json = {{"event", kNames[static_cast<std::size_t>(event.kind)]}, {"rank", event.rank}};
  if (event.step != 0) json["step"] = event.step;
  if (event.step_time != Nanos()) json["step_time_ns"] = event.step_time.value;
  if (event.loss) json["loss"] = real_json(*event.loss);
  if (!event.text.empty()) json["text"] = event.text;
  return json_text(json);
}

// Other things may be on the stream: what a library prints, or half a line.
std::optional<JobEvent> parse_event(const std::string& line) {
  try {
    const JsonView json = JsonView::parse(line, "");
    const auto name = std::ranges::find(kNames, json.at("event").string());
    if (name == kNames.end()) return std::nullopt;
    JobEvent event;
    event.kind = static_cast<Kind>(name - kNames.begin());
    if (const auto rank = json.find("rank"))
      event.rank = static_cast<int>(rank->integer(0, 1'000'000));
    if (const auto step = json.find("step")) event.step = step->integer(0);
    if (const auto time = json.find("step_time_ns")) event.step_time = Nanos(time->integer(0));
    if (const auto loss = json.find("loss")) event.loss = loss_from(*loss);
    if (const auto text = json.find("text")) event.text = text->string();
    return event;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

void write_result(const fs::path& folder, const JobResult& result) {
  const std::string tasks = write_tasks(result.tasks);
  write_file(folder / "tasks.bin", tasks);
  Json json = common_json(kResultFormat, result);
  json["losses"] = Json::array();
  for (const double loss : result.losses) json["losses"].push_back(real_json(loss));
  json["peaks_bytes"] = values_of(result.peaks);
  json["tasks"] = to_json(staged(tasks));
  write_file(folder / "result.json", json_text(json, 1) + "\n");
}

JobResult read_result(const fs::path& folder) {
  const fs::path file = folder / "result.json";
  const JsonView root = JsonView::parse(read_file(file), file.string());
  JobResult result = read_common(root, kResultFormat, "peaks_bytes");
  for (const JsonView& loss : root.at("losses").items()) result.losses.push_back(loss_from(loss));
  const fs::path measured = folder / "tasks.bin";
  const std::string tasks = read_staged(measured, staged_file_from(root.at("tasks")));
  result.tasks = read_tasks(tasks, result.peaks.size(), measured.string());
  return result;
}

std::string result_text(const JobResult& result) {
  Json json = common_json(kTextFormat, result);
  json["losses"] = result.losses;
  json["peaks"] = values_of(result.peaks);
  json["tasks"] = Json::array();
  for (const MeasuredTask& task : result.tasks)
    json["tasks"].push_back({task.task.value(), task.rank, task.start.value, task.end.value});
  return json_text(json);
}

JobResult parse_result(const std::string& text, const std::string& name) {
  const JsonView json = JsonView::parse(text, name);
  JobResult result = read_common(json, kTextFormat, "peaks");
  // A loss that is not finite is null in JSON.
  for (const JsonView& loss : json.at("losses").items())
    result.losses.push_back(loss.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                           : loss.number());
  for (const JsonView& task : json.at("tasks").items()) result.tasks.push_back(task_of(task));
  return result;
}

}  // namespace strato
