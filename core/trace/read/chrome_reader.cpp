#include "core/trace/read/chrome_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/trace/read/group_text.h"

namespace strato::trace {
namespace {

EventKind kind_of(std::string_view category) {
  using Row = std::pair<std::string_view, EventKind>;
  constexpr std::array<Row, 24> rows = {{{"cpu_op", EventKind::Operator},
                                         {"Operator", EventKind::Operator},
                                         {"operator", EventKind::Operator},
                                         {"python_function", EventKind::Python},
                                         {"cuda_runtime", EventKind::Runtime},
                                         {"cuda_driver", EventKind::Runtime},
                                         {"hip_runtime", EventKind::Runtime},
                                         {"xpu_runtime", EventKind::Runtime},
                                         {"mtia_runtime", EventKind::Runtime},
                                         {"privateuse1_runtime", EventKind::Runtime},
                                         {"Runtime", EventKind::Runtime},
                                         {"kernel", EventKind::Kernel},
                                         {"Kernel", EventKind::Kernel},
                                         {"mtia_ccp_events", EventKind::Kernel},
                                         {"gpu_memcpy", EventKind::Copy},
                                         {"Memcpy", EventKind::Copy},
                                         {"gpu_memset", EventKind::Fill},
                                         {"Memset", EventKind::Fill},
                                         {"cuda_sync", EventKind::Wait},
                                         {"user_annotation", EventKind::Annotation},
                                         {"gpu_user_annotation", EventKind::DeviceAnnotation},
                                         {"cpu_instant_event", EventKind::Other},
                                         {"Trace", EventKind::Other},
                                         {"overhead", EventKind::Other}}};
  const auto* row = std::ranges::find(rows, category, &Row::first);
  return row == rows.end() ? EventKind::Other : row->second;
}

bool communicates_on_host(EventKind kind, std::string_view name) {
  return name == "record_param_comms" ||
         (kind == EventKind::Annotation && name.starts_with("nccl:"));
}

Bytes message_bytes(const Record& record, std::string_view key) {
  const std::int64_t each = element_bytes(record.text("args.dtype").value_or(""));
  const std::int64_t count = record.integer(key).value_or(0);
  constexpr std::int64_t most = std::int64_t{1} << 33;  // so that sums of sizes fit
  return count > 0 && count < most ? Bytes(count * each) : Bytes(0);
}

}  // namespace

ChromeReader::ChromeReader(std::string file, std::stop_token stop)
    : builder_(std::move(file), Format::Chrome, std::move(stop)) {}

void ChromeReader::take(std::string_view section, const Record& record) {
  if (section == "traceEvents" || (section.empty() && record.text("ph")))
    take_event(record);
  else if (section.empty())
    take_top_value(record);
  else if (section == "distributedInfo")
    take_distribution(record);
  else if (section == "deviceProperties")
    take_device(record);
}

void ChromeReader::take_top_value(const Record& record) {
  if (const auto base = record.integer("baseTimeNanoseconds")) base_ = Nanos(*base);
  if (record.text("schemaVersion")) builder_.trace().format = Format::Kineto;
}

void ChromeReader::take_distribution(const Record& record) {
  Trace& trace = builder_.trace();
  trace.format = Format::Kineto;
  trace.rank = record.integer("rank");
  trace.world_size = record.integer("world_size");
  trace.backend = record.text("backend").value_or("");
  for (const Group& group : groups_of_configuration(record.text("pg_config").value_or("")))
    builder_.group(group);
}

void ChromeReader::take_device(const Record& record) {
  builder_.trace().format = Format::Kineto;
  builder_.trace().devices.push_back(
      {std::string(record.text("name").value_or("")),
       Bytes(std::max<std::int64_t>(0, record.integer("totalGlobalMem").value_or(0)))});
}

void ChromeReader::take_event(const Record& record) {
  const std::string_view phase = record.text("ph").value_or("");
  events_ += phase.empty() ? 0 : 1;
  if (phase == "X")
    take_complete(record);
  else if (phase == "B")
    take_begin(record);
  else if (phase == "E")
    take_end(record);
  else if ((phase == "i" || phase == "I") && record.text("name") == "[memory]")
    take_memory(record);
  else if (phase == "M")
    name_lane(record);
}

std::optional<Nanos> ChromeReader::time_of(const Record& record, std::string_view key) {
  const auto time = record.microseconds(key);
  if (!time) ++without_time_;
  return time;
}

LaneId ChromeReader::lane_of(const Record& record, EventKind kind) {
  const std::int64_t process = record.integer("pid").value_or(0);
  const std::int64_t thread = record.integer("tid").value_or(0);
  if (!runs_on_device(kind) && kind != EventKind::DeviceAnnotation)
    return builder_.lane(false, process, thread);
  return builder_.lane(true, record.integer("args.device").value_or(process),
                       record.integer("args.stream").value_or(thread));
}

void ChromeReader::take_complete(const Record& record) {
  const std::string_view category = record.text("cat").value_or("");
  EventKind kind = kind_of(category);
  if (kind != EventKind::Other) builder_.trace().format = Format::Kineto;
  if (kind == EventKind::Python) {
    ++builder_.trace().skipped_python;
    return;
  }
  // What an MTIA's queues do outside streams.
  if (category == "mtia_ccp_events" && !record.integer("args.stream")) kind = EventKind::Other;
  const auto start = time_of(record, "ts");
  const auto duration = start ? time_of(record, "dur") : std::nullopt;
  if (!duration) return;
  Event event;
  event.kind = kind;
  event.start = *start;
  event.duration = *duration;
  event.lane = lane_of(record, kind);
  add(event, record);
}

void ChromeReader::add(Event event, const Record& record) {
  const std::string_view name = record.text("name").value_or("");
  event.name = builder_.trace().names.add(name);
  event.correlation = std::max<std::int64_t>(0, record.integer("args.correlation").value_or(0));
  event.call = call_of(record, name, event.kind);
  const std::int64_t external = record.integer("args.External id").value_or(0);
  if (event.call.valid() && !runs_on_device(event.kind))
    links_.add_operator(event, external, builder_.trace().calls[event.call].group.valid());
  else if (!event.call.valid() && kernel_type(event.kind, name) == KernelType::Communication)
    links_.add_kernel(event.correlation, external);
  builder_.add(event);
}

CallId ChromeReader::call_of(const Record& record, std::string_view name, EventKind kind) {
  const bool on_host = communicates_on_host(kind, name);
  const bool on_device =
      runs_on_device(kind) && kernel_type(kind, name) == KernelType::Communication;
  if (!on_host && !on_device) return CallId();
  const auto collective = record.text("args.Collective name");
  if (!collective && !name.starts_with("nccl:")) return CallId();
  Call call;
  call.collective = collective_of(collective.value_or(name));
  call.group = group_of(record);
  call.sent = message_bytes(record, "args.In msg nelems");
  call.received = message_bytes(record, "args.Out msg nelems");
  call.number = record.integer("args.Seq").value_or(-1);
  auto& calls = builder_.trace().calls;
  calls.push_back(call);
  return CallId(calls.size() - 1);
}

GroupId ChromeReader::group_of(const Record& record) {
  const auto name = record.text("args.Process Group Name");
  if (!name) return GroupId();
  Group group;
  group.name = *name;
  group.description = record.text("args.Process Group Description").value_or("");
  group.size = std::max<std::int64_t>(0, record.integer("args.Group size").value_or(0));
  group.ranks = ranks_of(record.text("args.Process Group Ranks").value_or(""));
  if (group.ranks.empty()) {
    group.ranks = strided_ranks(record.integer("args.Global rank start").value_or(-1),
                                record.integer("args.Global rank stride").value_or(0), group.size);
  }
  return builder_.group(group);
}

void ChromeReader::take_begin(const Record& record) {
  const auto start = time_of(record, "ts");
  if (!start) return;
  Event event;
  event.kind = kind_of(record.text("cat").value_or(""));
  event.name = builder_.trace().names.add(record.text("name").value_or(""));
  event.start = *start;
  event.lane = lane_of(record, event.kind);
  open_[builder_.lane(false, record.integer("pid").value_or(0), record.integer("tid").value_or(0))]
      .push_back(event);
}

void ChromeReader::take_end(const Record& record) {
  const auto end = time_of(record, "ts");
  if (!end) return;
  auto& open = open_[builder_.lane(false, record.integer("pid").value_or(0),
                                   record.integer("tid").value_or(0))];
  if (open.empty()) {
    ++without_begin_;
    return;
  }
  Event event = open.back();
  open.pop_back();
  event.duration = *end - event.start;
  builder_.add(event);
}

void ChromeReader::take_memory(const Record& record) {
  const auto at = record.microseconds("ts");
  const auto allocated = record.integer("args.Total Allocated");
  // 1: CUDA, of c10::DeviceType; 0: the host.
  if (!at || !allocated || record.integer("args.Device Type").value_or(0) == 0) return;
  builder_.trace().memory.push_back({*at, record.integer("args.Device Id").value_or(0),
                                     Bytes(*allocated),
                                     Bytes(record.integer("args.Total Reserved").value_or(0))});
}

void ChromeReader::name_lane(const Record& record) {
  const auto name = record.text("args.name");
  if (!name || record.text("name") != "thread_name") return;
  const LaneId lane =
      builder_.lane(false, record.integer("pid").value_or(0), record.integer("tid").value_or(0));
  builder_.trace().lanes[lane].name = *name;
}

void ChromeReader::remark_on_end(const ReadingEnd& end) {
  const std::string used =
      counted(events_, "event") + " before that " + (events_ == 1 ? "was" : "were") + " used.";
  if (end.cut_short)
    builder_.remark(
        fmt::format("The file ends {}; {}",
                    end.in_record ? "inside an event" : "before its list of events does", used));
  else if (!end.whole)
    builder_.remark(fmt::format("The file is not valid JSON behind byte {}; {}", end.at, used));
  if (end.mended > 0)
    builder_.remark(
        fmt::format("{} no valid JSON (numbers that are none, control characters, what "
                    "is not UTF-8) and {} mended.",
                    counted(static_cast<std::int64_t>(end.mended), "place") +
                        (end.mended == 1 ? " is" : " are"),
                    end.mended == 1 ? "was" : "were"));
}

void ChromeReader::remark_on_pairs() {
  std::int64_t without_end = 0;
  for (const auto& [lane, events] : open_) without_end += std::ssize(events);
  if (without_end + without_begin_ > 0)
    builder_.remark(fmt::format("{} never ended and {} without a beginning; they were left out.",
                                counted(without_end, "event"), counted(without_begin_, "end")));
  if (without_time_ > 0)
    builder_.remark(
        fmt::format("{} no valid time or duration; left out.",
                    counted(without_time_, "event") + (without_time_ == 1 ? " has" : " have")));
}

void ChromeReader::shift_to_base() {
  Trace& trace = builder_.trace();
  constexpr std::int64_t most = INT64_MAX / 4;
  if (base_.value <= 0 || base_.value > most) return;
  for (Event& event : trace.events) event.start += base_;
  for (MemorySample& sample : trace.memory) sample.at += base_;
}

Trace ChromeReader::finish(const ReadingEnd& end) {
  if (events_ == 0)
    throw InputError(
        builder_.trace().file, "", "has no trace events",
        "give a trace of a profiler: Kineto, Chrome, Chakra or Nsight Systems (SQLite)");
  remark_on_end(end);
  remark_on_pairs();
  links_.resolve(builder_.trace());
  shift_to_base();
  return builder_.finish();
}

Trace read_chrome(const std::filesystem::path& file, const std::stop_token& stop) {
  ChromeReader reader(file.string(), stop);
  const ReadingEnd end = read_records(
      file, [&](std::string_view section, const Record& record) { reader.take(section, record); });
  return reader.finish(end);
}

}  // namespace strato::trace
