#include "core/launch/job/job_result.h"

#include <limits>

#include "core/base/error.h"
#include "core/io/byte_io.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/launch/job/job_file.h"
#include "core/launch/job/real_json.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kResultFormat = "stratoscope-job-result";
constexpr std::string_view kMagic = "STRATOMT";
constexpr std::uint32_t kTasksVersion = 1;
constexpr std::size_t kTaskBytes = 24;

// Magic, version, how many; then task, rank, start and end of each, little endian.
std::string write_tasks(const std::vector<MeasuredTask>& tasks) {
  ByteWriter out;
  out.number(kTasksVersion).number(static_cast<std::uint32_t>(tasks.size()));
  for (const MeasuredTask& task : tasks)
    out.number(task.task.value())
        .number(static_cast<std::int32_t>(task.rank))
        .number(task.start.value)
        .number(task.end.value);
  return std::string(kMagic) + std::move(out).take();
}

std::vector<MeasuredTask> read_tasks(const std::string& bytes, std::size_t ranks,
                                     const std::string& file) {
  const std::string_view content = bytes;
  const ByteReader::Words words{"the measured step", "run the job again"};
  if (!content.starts_with(kMagic))
    throw InputError(file, "", "is not a measured step", "run the job again");
  ByteReader in(content.substr(kMagic.size()), file, words);
  if (const auto version = in.number<std::uint32_t>(); version != kTasksVersion)
    throw InputError(file, "", "is a measured step of version " + std::to_string(version),
                     "read it with the program version that wrote it");
  std::vector<MeasuredTask> tasks(in.count(kTaskBytes));
  for (MeasuredTask& task : tasks) {
    const auto id = in.number<std::int32_t>();
    const auto rank = in.number<std::int32_t>();
    if (id < 0 || rank < 0 || static_cast<std::size_t>(rank) >= ranks)
      in.damaged("a task or rank is out of range");
    task.task = TaskId(static_cast<std::size_t>(id));
    task.rank = rank;
    task.start = Nanos(in.number<std::int64_t>());
    task.end = Nanos(in.number<std::int64_t>());
    if (task.end < task.start) in.damaged("a task ends before it starts");
  }
  if (!in.at_end()) in.damaged("bytes are left over");
  return tasks;
}

template <class T>
Json values_of(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T element : list) json.push_back(element.value);
  return json;
}

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

void write_result(const fs::path& folder, const JobResult& result) {
  const std::string tasks = write_tasks(result.tasks);
  write_file(folder / "tasks.bin", tasks);
  Json losses = Json::array();
  for (const double loss : result.losses) losses.push_back(real_json(loss));
  const Json json = {{"format", kResultFormat},
                     {"version", 1},
                     {"step_time_ns", result.step_time.value},
                     {"step_times_ns", values_of(result.step_times)},
                     {"losses", std::move(losses)},
                     {"peaks_bytes", values_of(result.peaks)},
                     {"tasks", {{"bytes", tasks.size()}, {"digest", digest_of(tasks).hex()}}}};
  write_file(folder / "result.json", json_text(json, 1) + "\n");
}

JobResult read_result(const fs::path& folder) {
  const fs::path file = folder / "result.json";
  const JsonView root = JsonView::parse(read_file(file), file.string());
  root.expect_format(kResultFormat, 1);
  JobResult result;
  result.step_time = Nanos(root.at("step_time_ns").integer(0));
  for (const JsonView& time : root.at("step_times_ns").items())
    result.step_times.push_back(Nanos(time.integer(0)));
  for (const JsonView& loss : root.at("losses").items()) {
    const auto value = real_from(loss.json());
    if (!value) loss.fail("is not a loss", "run the job again");
    result.losses.push_back(*value);
  }
  for (const JsonView& peak : root.at("peaks_bytes").items())
    result.peaks.push_back(Bytes(peak.integer(0)));
  const JsonView tasks = root.at("tasks");
  const StagedFile expected{static_cast<std::uintmax_t>(tasks.at("bytes").integer(0)),
                            tasks.at("digest").digest()};
  const fs::path measured = folder / "tasks.bin";
  result.tasks =
      read_tasks(read_staged(measured, expected), result.peaks.size(), measured.string());
  return result;
}

std::string result_text(const JobResult& result) {
  Json tasks = Json::array();
  for (const MeasuredTask& task : result.tasks)
    tasks.push_back({task.task.value(), task.rank, task.start.value, task.end.value});
  return json_text(Json{{"format", kFormat},
                        {"version", kVersion},
                        {"step_time_ns", result.step_time.value},
                        {"step_times_ns", values_of(result.step_times)},
                        {"losses", result.losses},
                        {"peaks", values_of(result.peaks)},
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
