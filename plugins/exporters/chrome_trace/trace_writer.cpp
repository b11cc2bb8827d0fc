#include "plugins/exporters/chrome_trace/trace_writer.h"

#include <fmt/format.h>

#include "core/io/json.h"

namespace strato::trace {
namespace {

std::string microseconds(Nanos time) {
  return fmt::format("{}.{:03}", time.value / 1000, time.value % 1000);
}

}  // namespace

std::string quoted(std::string_view text) { return json_text(Json(std::string(text))); }

void Writer::event(std::string_view fields) {
  if (!events_.empty()) events_ += ",\n";
  events_ += "{";
  events_ += fields;
  events_ += "}";
}

void Writer::metadata(std::string_view kind, Track track, std::string_view arguments) {
  event(fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}})", kind, track.process,
                    track.thread, arguments));
}

void Writer::name_process(int process, std::string_view name) {
  metadata("process_name", {process, 0}, fmt::format(R"("name":{})", quoted(name)));
  metadata("process_sort_index", {process, 0}, fmt::format(R"("sort_index":{})", process));
}

void Writer::name_thread(Track track, std::string_view name) {
  metadata("thread_name", track, fmt::format(R"("name":{})", quoted(name)));
  metadata("thread_sort_index", track, fmt::format(R"("sort_index":{})", track.thread));
}

void Writer::slice(Track track, std::string_view name, std::string_view category, Nanos start,
                   Nanos duration, std::string_view arguments) {
  event(fmt::format(R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{})",
                    quoted(name), category, track.process, track.thread, microseconds(start),
                    microseconds(duration), arguments));
}

void Writer::counter(int process, std::string_view name, Nanos at, std::int64_t value) {
  event(fmt::format(R"("ph":"C","name":{},"pid":{},"ts":{},"args":{{"bytes":{}}})", quoted(name),
                    process, microseconds(at), value));
}

void Writer::arrow(Track from, Nanos from_time, Track to, Nanos to_time) {
  const std::int64_t id = next_arrow_++;
  constexpr auto format =
      R"("ph":"{}","name":"data","cat":"data","id":{},"pid":{},"tid":{},"ts":{}{})";
  event(fmt::format(format, "s", id, from.process, from.thread, microseconds(from_time), ""));
  event(fmt::format(format, "f", id, to.process, to.thread, microseconds(to_time), R"(,"bp":"e")"));
}

std::string Writer::finish(std::string_view about) && {
  return fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{},\"traceEvents\":[\n{}\n]}}\n",
                     about, events_);
}

}  // namespace strato::trace
