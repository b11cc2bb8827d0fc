// A timeline as a Chrome trace: a process for every device (its compute and communication streams,
// memory as a counter) and one for the network (a thread for every directed link in use); arrows
// follow transfers.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "core/io/json.h"
#include "core/plugin/api/plugin.h"
#include "core/sim/timeline/timeline.h"

namespace strato {
namespace {

// ---- Chrome's trace event format, as text

std::string quoted(const std::string& text) { return json_text(Json(text)); }

// With three decimals, so that whole nanoseconds stay exact.
std::string microseconds(Nanos time) {
  return fmt::format("{}.{:03}", time.value / 1000, time.value % 1000);
}

struct Track {
  int process = 0, thread = 0;
};

class TimelineTrace {
 public:
  explicit TimelineTrace(const Timeline& timeline)
      : timeline_(timeline), program_(*timeline.program) {}

  std::string write() {
    name_tracks();
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) write_task(TaskId(i));
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) write_arrows(TaskId(i));
    write_memory();
    constexpr auto about = R"({{"model":{},"cluster":{},"step_time_ns":{},"feasible":{}}})";
    return "{\"displayTimeUnit\":\"ms\",\"otherData\":" +
           fmt::format(about, quoted(program_.graph->name()), quoted(program_.cluster->name()),
                       timeline_.step_time.value, timeline_.feasible) +
           ",\"traceEvents\":[\n" + events_ + "\n]}\n";
  }

 private:
  std::size_t device_count() const { return program_.cluster->device_count(); }
  int network() const { return static_cast<int>(device_count()) + 1; }

  // ---- events

  template <class... Fields>
  void event(fmt::format_string<Fields...> format, Fields&&... fields) {
    events_ += events_.empty() ? "{" : ",\n{";
    fmt::format_to(std::back_inserter(events_), format, std::forward<Fields>(fields)...);
    events_ += "}";
  }

  // Names a process (its thread 0) or a thread of it; they are shown in the order of their numbers.
  void name_track(Track track, const std::string& name) {
    constexpr auto format = R"("ph":"M","name":"{}_{}","pid":{},"tid":{},"args":{{"{}":{}}})";
    const char* kind = track.thread == 0 ? "process" : "thread";
    const int place = track.thread == 0 ? track.process : track.thread;
    event(format, kind, "name", track.process, track.thread, "name", quoted(name));
    event(format, kind, "sort_index", track.process, track.thread, "sort_index", place);
  }

  // An arrow from the slice of `from` that is open at `from_time` to that of `to` at `to_time`.
  void arrow(Track from, Nanos from_time, Track to, Nanos to_time) {
    const std::int64_t id = next_arrow_++;
    constexpr auto format =
        R"("ph":"{}","name":"data","cat":"data","id":{},"pid":{},"tid":{},"ts":{}{})";
    event(format, "s", id, from.process, from.thread, microseconds(from_time), "");
    event(format, "f", id, to.process, to.thread, microseconds(to_time), R"(,"bp":"e")");
  }

  // ---- of what is in the timeline

  Track track_of(ResourceId resource) const {
    if (program_.is_link(resource))
      return {network(), static_cast<int>(program_.link_of(resource).index()) + 1};
    return {static_cast<int>(Program::device_of(resource).index()) + 1,
            static_cast<int>(Program::kind_of(resource)) + 1};
  }

  void name_tracks() {
    bool has_rows = false;
    for (const TaskId task : program_.tasks.ids())
      has_rows |= program_.stream_of(task) == Stream::TensorCommunication;
    for (std::size_t i = 0; i < device_count(); ++i) {
      const DeviceId device(i);
      const int process = static_cast<int>(i) + 1;
      name_track({process, 0}, fmt::format("{} ({})", program_.cluster->device(device).name,
                                           program_.cluster->gpu(device).name));
      name_track({process, 1}, "compute");
      name_track({process, 2}, "communication");
      if (has_rows) name_track({process, 3}, "tensor communication");
    }
    name_track({network(), 0}, "network");
    for (std::size_t i = 0; i < timeline_.link_busy.size(); ++i) {
      if (timeline_.link_busy[LinkId(i)] == Nanos(0)) continue;
      name_track({network(), static_cast<int>(i) + 1}, program_.cluster->links()[LinkId(i)].name);
    }
  }

  std::string arguments(TaskId id) const {
    const Task& task = program_.tasks[id];
    std::string text = fmt::format(R"({{"task":{},"kind":"{}")", id.value(), name_of(task.kind));
    if (task.op.valid())
      text += fmt::format(R"(,"op":{})", quoted(program_.graph->op(task.op).name));
    if (task.tensor.valid())
      text += fmt::format(R"(,"tensor":{})", quoted(program_.graph->tensor(task.tensor).name));
    if (task.bytes > Bytes(0)) text += fmt::format(R"(,"bytes":{})", task.bytes.value);
    const auto cuts = program_.cuts_of(task);
    const AxisRange range = program_.range_of(task);
    if (cuts.empty())
      text += fmt::format(R"(,"samples":{},"first_sample":{})", range.size(), range.begin);
    else
      text += fmt::format(R"(,"axis":{},"first":{},"extent":{})", int{range.axis}, range.begin,
                          range.size());
    if (cuts.size() > 1) text += fmt::format(R"(,"part":"{}")", describe(cuts));
    return text + fmt::format(R"(,"priority":{},"waited_ns":{}}})", task.priority,
                              (timeline_.tasks[id].start - timeline_.tasks[id].ready).value);
  }

  void write_task(TaskId id) {
    const TaskTimes& times = timeline_.tasks[id];
    const std::string name = quoted(program_.task_name(id));
    const std::string about = arguments(id);
    for (const ResourceId resource : program_.resources[id.index()]) {
      const Track track = track_of(resource);
      event(R"("ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{})", name,
            name_of(program_.tasks[id].kind), track.process, track.thread,
            microseconds(times.start), microseconds(times.end - times.start), about);
    }
  }

  Track first_track(TaskId id) const { return track_of(program_.resources[id.index()][0]); }

  // Draws an arrow from what a transfer waits for to the transfer, and one from it to what waits
  // for it.
  void write_arrows(TaskId id) {
    const auto is_transfer = [&](TaskId task) {
      return program_.tasks[task].kind == TaskKind::Transfer;
    };
    for (const TaskId before : program_.dependencies[id.index()]) {
      if (!is_transfer(id) && !is_transfer(before)) continue;
      const TaskTimes& times = timeline_.tasks[before];
      // Just inside the slice: at its very end the next slice of the track would be open.
      const Nanos inside = std::max(times.start, times.end - Nanos(1));
      arrow(first_track(before), inside, first_track(id), timeline_.tasks[id].start);
    }
  }

  void write_memory() {
    // In bytes, by moment: of devices, then of machines' hosts.
    const Cluster& cluster = *program_.cluster;
    std::vector<std::map<Nanos, std::int64_t>> changes(device_count() + cluster.machines().size());
    const auto place = [&](DeviceId device, bool on_host) {
      return on_host ? device_count() + cluster.device(device).machine.index() : device.index();
    };
    for (const Resident& resident : program_.residents)
      changes[place(resident.device, resident.on_host)][Nanos(0)] += resident.bytes.value;
    const IdVector<BufferId, Lifetime> lives = lifetimes(timeline_);
    for (std::size_t i = 0; i < lives.size(); ++i) {
      const Buffer& buffer = program_.buffers[BufferId(i)];
      const auto [taken_by, released_by] = lives[BufferId(i)];
      auto& of = changes[place(buffer.device, buffer.on_host)];
      of[timeline_.tasks[taken_by].start] += buffer.bytes.value;
      of[timeline_.tasks[released_by].end] -= buffer.bytes.value;
    }
    for (std::size_t at = 0; at < changes.size(); ++at) {
      const bool on_host = at >= device_count();
      const std::string name =
          on_host ? cluster.machines()[MachineId(at - device_count())].name + " host memory"
                  : "memory";
      const std::size_t process = on_host ? static_cast<std::size_t>(network()) : at + 1;
      std::int64_t bytes = 0;
      for (const auto& [moment, change] : changes[at]) {
        bytes += change;
        event(R"("ph":"C","name":{},"pid":{},"ts":{},"args":{{"bytes":{}}})", quoted(name), process,
              microseconds(moment), bytes);
      }
    }
  }

  const Timeline& timeline_;
  const Program& program_;
  std::string events_;
  std::int64_t next_arrow_ = 1;
};

std::string export_chrome_trace(const ExportInput& input) {
  return TimelineTrace(*input.outcome.timeline).write();
}

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER_FUNCTION(strato::export_chrome_trace)
