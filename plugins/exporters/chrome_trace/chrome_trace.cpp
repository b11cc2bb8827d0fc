// A timeline as a Chrome trace: a process for every device (compute and communication streams,
// memory as a counter) and one for the network (a thread for every directed link in use); arrows
// follow transfers.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "plugins/exporters/chrome_trace/trace_writer.h"

namespace strato {
namespace {

class TimelineTrace {
 public:
  TimelineTrace(const ExportInput& input)
      : input_(input), timeline_(*input.outcome.timeline), program_(*timeline_.program) {}

  std::string write() {
    name_tracks();
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) write_task(TaskId(i));
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) write_arrows(TaskId(i));
    write_memory();
    return std::move(writer_).finish(
        fmt::format(R"({{"model":{},"cluster":{},"step_time_ns":{},"feasible":{}}})",
                    trace::quoted(program_.graph->name()), trace::quoted(program_.cluster->name()),
                    timeline_.step_time.value, timeline_.feasible));
  }

 private:
  std::size_t device_count() const { return program_.cluster->device_count(); }
  int network() const { return static_cast<int>(device_count()) + 1; }

  trace::Track track_of(ResourceId resource) const {
    const std::size_t streams = 2 * device_count();
    const std::size_t index = resource.index();
    if (index < streams) return {static_cast<int>(index / 2) + 1, static_cast<int>(index % 2) + 1};
    return {network(), static_cast<int>(index - streams) + 1};
  }

  void name_tracks() {
    for (std::size_t i = 0; i < device_count(); ++i) {
      const DeviceId device(i);
      const int process = static_cast<int>(i) + 1;
      writer_.name_process(process, fmt::format("{} ({})", program_.cluster->device(device).name,
                                                program_.cluster->gpu(device).name));
      writer_.name_thread({process, 1}, "compute");
      writer_.name_thread({process, 2}, "communication");
    }
    writer_.name_process(network(), "network");
    for (std::size_t i = 0; i < timeline_.link_busy.size(); ++i) {
      if (timeline_.link_busy[LinkId(i)] == Nanos(0)) continue;
      writer_.name_thread({network(), static_cast<int>(i) + 1},
                          program_.cluster->links()[LinkId(i)].name);
    }
  }

  std::string arguments(TaskId id) const {
    const Task& task = program_.tasks[id];
    std::string text = fmt::format(R"({{"task":{},"kind":"{}")", id.value(), name_of(task.kind));
    if (task.op.valid())
      text += fmt::format(R"(,"op":{})", trace::quoted(program_.graph->op(task.op).name));
    if (task.tensor.valid()) {
      text +=
          fmt::format(R"(,"tensor":{})", trace::quoted(program_.graph->tensor(task.tensor).name));
    }
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
    const std::string name = program_.task_name(id);
    const std::string about = arguments(id);
    for (const ResourceId resource : program_.resources[id.index()]) {
      writer_.slice(track_of(resource), name, name_of(program_.tasks[id].kind), times.start,
                    times.end - times.start, about);
    }
  }

  trace::Track first_track(TaskId id) const { return track_of(program_.resources[id.index()][0]); }

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
      writer_.arrow(first_track(before), inside, first_track(id), timeline_.tasks[id].start);
    }
  }

  void write_memory();

  const ExportInput& input_;
  const Timeline& timeline_;
  const Program& program_;
  trace::Writer writer_;
};

// Changes of each device's memory by moment, by the simulator's rule: taken when the first writer
// starts, released when the last reader (without one: the writer) ends.
std::vector<std::map<Nanos, std::int64_t>> memory_changes(const Timeline& timeline) {
  const Program& program = *timeline.program;
  std::vector<std::map<Nanos, std::int64_t>> changes(program.cluster->device_count());
  std::vector<Nanos> taken(program.buffers.size(), Nanos::max()), written(taken.size()),
      read(taken.size());
  for (std::size_t i = 0; i < program.tasks.size(); ++i) {
    const TaskTimes& times = timeline.tasks[TaskId(i)];
    for (const BufferId buffer : program.writes[i]) {
      taken[buffer.index()] = std::min(taken[buffer.index()], times.start);
      written[buffer.index()] = std::max(written[buffer.index()], times.end);
    }
    for (const BufferId buffer : program.reads[i]) {
      read[buffer.index()] = std::max(read[buffer.index()], times.end);
    }
  }
  for (const Resident& resident : program.residents) {
    changes[resident.device.index()][Nanos(0)] += resident.bytes.value;
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] == Nanos::max()) continue;
    const Buffer& buffer = program.buffers[BufferId(i)];
    changes[buffer.device.index()][taken[i]] += buffer.bytes.value;
    changes[buffer.device.index()][read[i] > Nanos(0) ? read[i] : written[i]] -= buffer.bytes.value;
  }
  return changes;
}

void TimelineTrace::write_memory() {
  const auto changes = memory_changes(timeline_);
  for (std::size_t device = 0; device < changes.size(); ++device) {
    std::int64_t bytes = 0;
    for (const auto& [moment, change] : changes[device]) {
      bytes += change;
      writer_.counter(static_cast<int>(device) + 1, "memory", moment, bytes);
    }
  }
}

std::string export_chrome_trace(const ExportInput& input) { return TimelineTrace(input).write(); }

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER_FUNCTION(strato::export_chrome_trace)
