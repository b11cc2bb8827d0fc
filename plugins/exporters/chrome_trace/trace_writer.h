// Chrome's trace event format, as text. Times are written in microseconds with three decimals, so
// that whole nanoseconds stay exact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace strato::trace {

struct Track {
  int process = 0, thread = 0;
};

// `text` in quotes, escaped.
std::string quoted(std::string_view text);

class Writer {
 public:
  void name_process(int process, std::string_view name);  // shown in the order of their numbers
  void name_thread(Track track, std::string_view name);
  // `arguments` is a JSON object.
  void slice(Track track, std::string_view name, std::string_view category, Nanos start,
             Nanos duration, std::string_view arguments);
  void counter(int process, std::string_view name, Nanos at, std::int64_t value);
  // An arrow from the slice of `from` that is open at `from_time` to that of `to` at `to_time`.
  void arrow(Track from, Nanos from_time, Track to, Nanos to_time);

  // `about` is a JSON object, kept beside the events.
  std::string finish(std::string_view about) &&;

 private:
  void event(std::string_view fields);
  void metadata(std::string_view kind, Track track, std::string_view arguments);

  std::string events_;
  std::int64_t next_arrow_ = 1;
};

}  // namespace strato::trace
