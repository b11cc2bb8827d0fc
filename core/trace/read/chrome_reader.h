// Private to core/trace/read: Chrome's trace events, as Kineto and others write them.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trace/read/call_links.h"
#include "core/trace/read/trace_builder.h"
#include "core/trace/text/record.h"
#include "core/trace/text/record_reader.h"

namespace strato::trace {

class ChromeReader {
 public:
  ChromeReader(std::string file, std::stop_token stop);

  void take(std::string_view section, const Record& record);
  // Throws InputError when there is not one event.
  Trace finish(const ReadingEnd& end);

 private:
  void take_top_value(const Record& record);
  void take_distribution(const Record& record);
  void take_device(const Record& record);
  void take_event(const Record& record);
  void take_complete(const Record& record);
  void take_begin(const Record& record);
  void take_end(const Record& record);
  void take_memory(const Record& record);
  void name_lane(const Record& record);

  std::optional<Nanos> time_of(const Record& record, std::string_view key);
  LaneId lane_of(const Record& record, EventKind kind);
  void add(Event event, const Record& record);
  CallId call_of(const Record& record, std::string_view name, EventKind kind);
  GroupId group_of(const Record& record);
  void remark_on_end(const ReadingEnd& end);
  void remark_on_pairs();
  void shift_to_base();

  TraceBuilder builder_;
  CallLinks links_;
  std::unordered_map<LaneId, std::vector<Event>> open_;  // begun by B
  std::int64_t events_ = 0, without_begin_ = 0, without_time_ = 0;
  Nanos base_;
};

// Throws InputError, and ReadingStopped.
Trace read_chrome(const std::filesystem::path& file, const std::stop_token& stop);

}  // namespace strato::trace
