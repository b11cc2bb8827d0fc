// Private to core/trace/read: puts a trace together, whatever the format, and counts what is wrong.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/trace/value/trace.h"

namespace strato::trace {

// Nobody waits for the trace any more.
struct ReadingStopped {};

class TraceBuilder {
 public:
  // 40 bytes each. Throws InputError where there are more.
  static constexpr std::size_t kMostEvents = std::size_t{1} << 26;

  TraceBuilder(std::string file, Format format, std::stop_token stop = {});

  Trace& trace() { return trace_; }

  LaneId lane(bool on_device, std::int64_t process, std::int64_t thread);
  // Of this name, with what else is known of it now.
  GroupId group(const Group& known);
  // One with a negative duration is counted, not added. Throws InputError when all durations are
  // more than 63 years: so sums of them fit everywhere; ReadingStopped once it is to stop.
  void add(Event event);
  void remark(std::string sentence) { trace_.remarks.push_back(std::move(sentence)); }

  // Sorts, leaves out what is there twice, and adds sentences on what was wrong.
  Trace finish();

 private:
  void drop_absurd_times();  // so that sums and differences of times fit everywhere
  void drop_repeated();
  void remark_on_overlaps();

  std::stop_token stop_;
  Trace trace_;
  std::map<std::tuple<bool, std::int64_t, std::int64_t>, LaneId> lanes_;
  std::map<std::string, GroupId, std::less<>> groups_;
  std::int64_t negative_ = 0;
  Nanos total_;
};

// "1 event", "12,345 events".
std::string counted(std::int64_t count, std::string_view what);

}  // namespace strato::trace
