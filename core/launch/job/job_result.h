// A job reports events while it runs: rank 0 writes one JSON object a line to standard output, and
// launchers forward it. In the end it leaves its result in its folder (result.json, tasks.bin):
// step times, losses, memory, and one step as it was measured. Throws InputError for files that are
// not whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/program/value/program.h"

namespace strato {

struct JobEvent {
  enum class Kind : std::uint8_t {
    Started,  // all ranks have met
    Step,     // one step ended everywhere
    Failed,   // a rank failed; `rank` and `text` say which and why
    Finished  // result.json and tasks.bin are written
  } kind = Kind::Started;
  int rank = 0;
  std::int64_t step = 0;
  Nanos step_time;
  std::optional<double> loss;
  std::string text;
};
std::string to_json_line(const JobEvent& event);               // without the newline
std::optional<JobEvent> parse_event(const std::string& line);  // nothing: not an event

// One task as it was executed, nanoseconds from the start of the measured step, on rank 0's clock.
// A transfer or collective has one for each rank that took part.
struct MeasuredTask {
  TaskId task;
  int rank = 0;
  Nanos start, end;
};
struct JobResult {
  std::vector<Nanos> step_times;    // by step, warm-up included
  Nanos step_time;                  // median of the steps after the warm-up
  std::vector<double> losses;       // by step; empty with the replay engine
  std::vector<Bytes> peaks;         // by rank
  std::vector<MeasuredTask> tasks;  // of the step whose time is nearest to the median
};
void write_result(const std::filesystem::path& folder, const JobResult& result);
JobResult read_result(const std::filesystem::path& folder);

// A job's result as one text (JSON), for the workspace.
std::string result_text(const JobResult& result);
// Throws InputError (file: `name`) for anything that result_text() did not make.
JobResult parse_result(const std::string& text, const std::string& name);

}  // namespace strato
