// A job reports events while it runs: rank 0 writes one JSON object a line to standard output, and
// launchers forward it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/units.h"

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

}  // namespace strato
