// A measurement job reports progress on its way and leaves a result; both are read and written
// here.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/value/profile.h"

namespace strato {

// Rank 0 tells it as a line of JSON, beside the events of every job (job.h: Started, Failed,
// Finished).
struct MeasureEvent {
  std::string what;  // under way: "batch 64 on V100", "v100:0 -> v100:1"
  std::int64_t done = 0, of = 0;
  std::chrono::milliseconds left{0};  // of the budget
};
std::string to_json_line(const MeasureEvent& event);                       // without the newline
std::optional<MeasureEvent> parse_measure_event(const std::string& line);  // nothing: another line

struct MeasureResult {
  Profile profile;
  std::vector<std::string> notes;  // what was left out and why, a sentence each
  double seconds = 0;              // what measuring took, to be held against the budget
};
void write_measure_result(const std::filesystem::path& folder, const MeasureResult& result);
MeasureResult read_measure_result(const std::filesystem::path& folder);

}  // namespace strato
