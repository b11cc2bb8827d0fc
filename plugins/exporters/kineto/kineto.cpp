// A timeline as PyTorch's profiler would have recorded it, one file a device:
//
//   rank-N.json  the kernels of device N with the names, streams and arguments that readers of such
//                traces look for; the step as "ProfilerStep#0"; communicators in distributedInfo
//
// What communicates is named as a kernel of NCCL's, and says its collective, its communicator and
// its sizes, in bytes. Times have three decimals, so that whole nanoseconds stay exact.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/io/json.h"
#include "core/plugin/api/plugin.h"
#include "core/program/value/collective.h"
#include "core/sim/timeline/timeline.h"

namespace strato {
namespace {

struct CollectiveNames {
  const char* kernel;  // as in NCCL's names of kernels
  const char* call;    // as in PyTorch's arguments
};

CollectiveNames collective_names(TaskKind kind) {
  static const std::map<TaskKind, CollectiveNames> names = {
      {TaskKind::AllReduce, {"AllReduce", "allreduce"}},
      {TaskKind::AllGather, {"AllGather", "_allgather_base"}},
      {TaskKind::ReduceScatter, {"ReduceScatter", "_reduce_scatter_base"}},
      {TaskKind::AllToAll, {"AllToAll", "all_to_all"}},
      {TaskKind::Reduce, {"Reduce", "reduce"}},
      {TaskKind::Broadcast, {"Broadcast", "broadcast"}}};
  const auto found = names.find(kind);
  return found == names.end() ? CollectiveNames{"SendRecv", "sendrecv"} : found->second;
}

class RankTraces {
 public:
  explicit RankTraces(const Timeline& timeline)
      : timeline_(timeline),
        program_(*timeline.program),
        events_(program_.cluster->device_count(), Json::array()) {}

  std::vector<ExportedFile> write() {
    for (const DeviceId device : devices()) add_step(device);
    for (const TaskId task : program_.tasks.ids()) add_task(task);
    std::vector<ExportedFile> files;
    for (const DeviceId device : devices()) {
      const Json trace = {{"schemaVersion", 1},
                          {"deviceProperties", {device_properties(device)}},
                          {"distributedInfo", distribution(device)},
                          {"displayTimeUnit", "ms"},
                          {"traceEvents", std::move(events_[device.index()])}};
      files.push_back({fmt::format("rank-{}.json", device.value()), json_text(trace) + "\n"});
    }
    return files;
  }

 private:
  NumbersAs<DeviceId> devices() const {
    return {static_cast<std::int32_t>(program_.cluster->device_count())};
  }

  static double microseconds(Nanos time) { return static_cast<double>(time.value) / 1000; }

  Json device_properties(DeviceId device) const {
    const GpuType& gpu = program_.cluster->gpu(device);
    return {{"id", device.value()}, {"name", gpu.name}, {"totalGlobalMem", gpu.memory.value}};
  }

  Json distribution(DeviceId device) const {
    Json groups = Json::array();
    for (const auto& [members, number] : groups_) {
      groups.push_back(
          {{"pg_name", std::to_string(number)}, {"pg_size", members.size()}, {"ranks", members}});
    }
    return {{"backend", "nccl"},
            {"rank", device.value()},
            {"world_size", program_.cluster->device_count()},
            {"pg_config", groups}};
  }

  void add_step(DeviceId device) {
    events_[device.index()].push_back({{"ph", "X"},
                                       {"cat", "user_annotation"},
                                       {"name", "ProfilerStep#0"},
                                       {"pid", kHost},
                                       {"tid", kHost},
                                       {"ts", 0.0},
                                       {"dur", microseconds(timeline_.step_time)}});
  }

  void add_task(TaskId id) {
    bool on_stream = false;
    for (const ResourceId resource : program_.resources[id.index()]) {
      if (program_.is_link(resource)) continue;
      on_stream = true;
      add_event(id, Program::device_of(resource), static_cast<int>(Program::kind_of(resource)));
    }
    if (!on_stream) add_move(id);
  }

  // What occupies links only runs on streams of its own: one for each peer and way, as copies do.
  void add_move(TaskId id) {
    const Task& task = program_.tasks[id];
    if (is_host_copy(task.kind))
      return add_event(id, task.device, task.kind == TaskKind::Offload ? kCopies : kCopies + 1);
    if (task.kind != TaskKind::Transfer) return;
    add_event(id, task.device, kPeers + 2 * task.target.value());
    add_event(id, task.target, kPeers + 2 * task.device.value() + 1);
  }

  void add_event(TaskId id, DeviceId device, int stream) {
    const TaskTimes& times = timeline_.tasks[id];
    events_[device.index()].push_back({{"ph", "X"},
                                       {"cat", category(id)},
                                       {"name", name(id)},
                                       {"pid", device.value()},
                                       {"tid", stream},
                                       {"ts", microseconds(times.start)},
                                       {"dur", microseconds(times.end - times.start)},
                                       {"args", arguments(id, device, stream)}});
  }

  const char* category(TaskId id) const {
    return is_host_copy(program_.tasks[id].kind) ? "gpu_memcpy" : "kernel";
  }

  std::string name(TaskId id) const {
    const TaskKind kind = program_.tasks[id].kind;
    std::string task = program_.task_name(id);
    if (kind == TaskKind::Offload) return "Memcpy DtoH (Device -> Pinned): " + task;
    if (kind == TaskKind::Fetch) return "Memcpy HtoD (Pinned -> Device): " + task;
    if (!is_communication(kind)) return task;
    return fmt::format("ncclDevKernel_{}: {}", collective_names(kind).kernel, task);
  }

  Json arguments(TaskId id, DeviceId device, int stream) {
    const Task& task = program_.tasks[id];
    Json arguments = {{"device", device.value()}, {"stream", stream}};
    if (!is_communication(task.kind) || is_host_copy(task.kind)) return arguments;
    const std::vector<std::int32_t> of = members(id);
    const auto [kernel, call] = collective_names(task.kind);
    arguments["Collective name"] = call;
    arguments["dtype"] = "Byte";
    arguments["In msg nelems"] = task.bytes.value;
    arguments["Out msg nelems"] = task.bytes.value;
    arguments["Group size"] = of.size();
    arguments["Process Group Name"] = std::to_string(group(of));
    arguments["Process Group Ranks"] = Json(of).dump();
    // Of the program: the same on all ranks.
    arguments["Seq"] = id.value();
    return arguments;
  }

  std::vector<std::int32_t> members(TaskId id) const {
    const Task& task = program_.tasks[id];
    if (task.kind == TaskKind::Transfer)
      return {std::min(task.device.value(), task.target.value()),
              std::max(task.device.value(), task.target.value())};
    std::vector<std::int32_t> members;
    for (const DeviceId device : members_of(program_, id)) members.push_back(device.value());
    return members;
  }

  int group(const std::vector<std::int32_t>& members) {
    return groups_.try_emplace(members, static_cast<int>(groups_.size())).first->second;
  }

  static constexpr int kHost = 1'000'000;           // process and thread, beside those of devices
  static constexpr int kCopies = 10, kPeers = 100;  // streams

  const Timeline& timeline_;
  const Program& program_;
  std::vector<Json> events_;                         // by device
  std::map<std::vector<std::int32_t>, int> groups_;  // communicators by their members
};

std::vector<ExportedFile> export_kineto(const ExportInput& input) {
  return RankTraces(*input.outcome.timeline).write();
}

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER_FUNCTION(strato::export_kineto)
