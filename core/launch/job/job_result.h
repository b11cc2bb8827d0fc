// A job leaves its result in its folder (result.json, tasks.bin): step times, losses, memory, and
// one step as it was measured. Throws InputError for files that are not whole.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/program/value/program.h"

namespace strato {

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
