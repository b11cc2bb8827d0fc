#include "views/timeline/range_export.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "core/io/json.h"

namespace strato {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<TaskId> tasks_in(const Timeline& timeline, Nanos begin, Nanos end) {
  std::vector<TaskId> tasks;
  for (std::size_t t = 0; t < timeline.tasks.size(); ++t) {
    const TaskTimes& times = timeline.tasks[TaskId(t)];
    if (times.end > begin && times.start < end) tasks.emplace_back(t);
  }
  std::ranges::stable_sort(tasks, {}, [&](TaskId t) { return timeline.tasks[t].start; });
  return tasks;
}

// Picks events of a Chrome trace by their time, which it has in microseconds.
class EventPicker {
 public:
  EventPicker(const Json& events, Nanos begin, Nanos end) : begin_(begin), end_(end) {
    for (const Json& event : events) {  // arrows are two events each
      const std::string phase = event.value("ph", "");
      if ((phase == "s" || phase == "f") && !inside(event))
        cut_arrows_.insert(event.at("id").dump());
    }
  }

  Json pick(const Json& events) {
    Json picked = Json::array();
    for (const Json& event : events) take(event, picked);
    for (auto& [key, event] : before_) {  // that did not change at `begin` itself
      event["ts"] = static_cast<double>(begin_.value) / 1000;
      picked.push_back(event);
    }
    return picked;
  }

 private:
  static Nanos time_of(const Json& event, const char* key) {
    return Nanos(std::llround(event.value(key, 0.0) * 1000));
  }
  bool inside(const Json& event) const {
    const Nanos at = time_of(event, "ts");
    return at >= begin_ && at < end_;
  }

  void take(const Json& event, Json& picked) {
    const std::string phase = event.value("ph", "");
    const Nanos at = time_of(event, "ts");
    bool wanted = phase == "M";
    if (phase == "X") wanted = at < end_ && at + time_of(event, "dur") > begin_;
    if (phase == "s" || phase == "f") wanted = !cut_arrows_.contains(event.at("id").dump());
    if (phase == "C") {
      wanted = at > begin_ && at < end_;
      if (at <= begin_) before_[event.at("pid").dump() + event.value("name", "")] = event;
    }
    if (wanted) picked.push_back(event);
  }

  const Nanos begin_, end_;
  std::set<std::string> cut_arrows_;
  std::map<std::string, Json> before_;  // counters, by process and name
};

}  // namespace

std::string range_csv(const Timeline& timeline, const Grouping* grouping, Nanos begin, Nanos end) {
  const Program& program = *timeline.program;
  std::string csv =
      "start_ns,end_ns,duration_ns,kind,device,target,op,op_type,tensor,group,bytes\n";
  for (const TaskId id : tasks_in(timeline, begin, end)) {
    const Task& task = program.tasks[id];
    const TaskTimes& times = timeline.tasks[id];
    const auto device = [&](DeviceId d) {
      return d.valid() ? csv_cell(program.cluster->device(d).name) : std::string();
    };
    const bool has_op = task.op.valid();
    csv += std::to_string(times.start.value) + ',' + std::to_string(times.end.value) + ',' +
           std::to_string((times.end - times.start).value) + ',' + std::string(name_of(task.kind)) +
           ',' + device(task.device) + ',' + device(task.target) + ',';
    csv += (has_op ? csv_cell(program.graph->op(task.op).name) : "") + ',';
    csv += (has_op ? csv_cell(program.graph->op(task.op).type) : "") + ',';
    csv += (task.tensor.valid() ? csv_cell(program.graph->tensor(task.tensor).name) : "") + ',';
    csv += (has_op && grouping ? csv_cell(grouping->group(grouping->group_of(task.op)).name) : "") +
           ',';
    csv += std::to_string(task.bytes.value) + '\n';
  }
  return csv;
}

std::string range_of_trace(const std::string& trace, Nanos begin, Nanos end) {
  const JsonView view = JsonView::parse(trace, "trace");
  Json result = view.json();
  const Json& events = view.at("traceEvents").json();
  result["traceEvents"] = EventPicker(events, begin, end).pick(events);
  return json_text(result) + '\n';
}

}  // namespace strato
