#include "core/sim/explain/dump.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "core/io/json.h"
#include "core/program/value/op_parts.h"

namespace strato {
namespace {

// By its tensor, the samples that it holds, and how it came about.
std::string name_of(const Program& program, const Buffer& buffer, const Task& writer) {
  const Tensor& tensor = program.graph->tensor(buffer.tensor);
  const std::int64_t batch = program.graph->batch();
  std::string name = tensor.name;
  const Part& part = program.part_of(writer);
  const bool sliced = !part.cuts().empty();
  const AxisRange samples = range_along(*program.graph, buffer.tensor, part, kBatchAxis);
  const bool some = (!sliced || !part.sums_samples()) && samples.size() != batch;
  if (sliced) name += " " + describe(part.cuts());
  if (part.sums_letter()) name += " partial";
  if (some && tensor.batch.kind == BatchKind::Partial) name += " partial";
  if (some && tensor.batch.kind != BatchKind::Whole)
    name += fmt::format("[{},{})", samples.begin, samples.end);
  if (writer.kind == TaskKind::Transfer)
    name += " from " + program.cluster->device(writer.device).name;
  if (writer.kind == TaskKind::Sum) name += " sum";
  return name;
}

std::string host_name(const Program& program, MachineId machine) {
  return program.cluster->machines()[machine].name + " host";
}

// Of the device, or of its machine's host.
std::string place_name(const Program& program, const Buffer& buffer) {
  const Device& device = program.cluster->device(buffer.device);
  return buffer.on_host ? host_name(program, device.machine) : device.name;
}

// Numbered where a name is not yet unique on its device or host.
IdVector<BufferId, std::string> buffer_names(const Program& program,
                                             const IdVector<BufferId, Lifetime>& lives) {
  std::map<std::pair<std::string, std::string>, int> seen;
  IdVector<BufferId, std::string> names;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    const Buffer& buffer = program.buffers[BufferId(i)];
    std::string name = name_of(program, buffer, program.tasks[lives[BufferId(i)].taken_by]);
    const int count = ++seen[{place_name(program, buffer), name}];
    names.push_back(count > 1 ? fmt::format("{} #{}", name, count) : std::move(name));
  }
  return names;
}

std::string resident_line(const Timeline& timeline) {
  Json bytes = Json::object();
  for (std::size_t d = 0; d < timeline.devices.size(); ++d)
    bytes[timeline.program->cluster->device(DeviceId(d)).name] =
        timeline.devices[DeviceId(d)].resident.value;
  for (const MachineId machine : timeline.hosts.ids())
    if (const HostUse& use = timeline.hosts[machine]; use.peak > Bytes(0))
      bytes[host_name(*timeline.program, machine)] = use.resident.value;
  Json line = {{"resident", std::move(bytes)}};
  if (timeline.options.fair_links) line["fair_links"] = true;
  return json_text(line) + "\n";
}

std::string_view stream_name(const Program& program, TaskId id) {
  const TaskKind kind = program.tasks[id].kind;
  return kind == TaskKind::Transfer || is_host_copy(kind) ? "links"
                                                          : name_of(program.stream_of(id));
}

Json task_line(const Timeline& timeline, TaskId id) {
  const Program& program = *timeline.program;
  const Task& task = program.tasks[id];
  const TaskTimes& times = timeline.tasks[id];
  Json resources = Json::array(), dependencies = Json::array();
  for (ResourceId resource : program.resources[id.index()])
    resources.push_back(program.resource_name(resource));
  for (TaskId dependency : program.dependencies[id.index()])
    dependencies.push_back(dependency.value());
  Json line{{"id", id.value()},
            {"name", program.task_name(id)},
            {"kind", name_of(task.kind)},
            {"op", task.op.valid() ? Json(program.graph->op(task.op).name) : Json()},
            {"resources", std::move(resources)},
            {"duration_ns", (times.end - times.start).value},  // of fair links: what it took
            {"priority", timeline.options.priorities ? task.priority : 0},
            {"deps", std::move(dependencies)},
            {"ready_ns", times.ready.value},
            {"start_ns", times.start.value},
            {"end_ns", times.end.value}};
  if (program.micro_batches > 1) line["micro"] = task.micro;
  if (task.issue > 0) line["issue_ns"] = task.issue;
  if (task.issue > 0 && program.issues_after_transfers) {
    const auto is_transfer = [&](TaskId dependency) {
      return program.tasks[dependency].kind == TaskKind::Transfer;
    };
    line["issued_when_ready"] = std::ranges::any_of(program.dependencies[id.index()], is_transfer);
  }
  return line;
}

}  // namespace

std::string dump_tasks(const Timeline& timeline) {
  const Program& program = *timeline.program;
  const auto lives = lifetimes(timeline);
  const auto names = buffer_names(program, lives);
  std::vector<std::vector<BufferId>> released(program.tasks.size());
  for (std::size_t i = 0; i < lives.size(); ++i)
    released[lives[BufferId(i)].released_by.index()].push_back(BufferId(i));
  const auto device_name = [&](BufferId buffer) {
    return place_name(program, program.buffers[buffer]);
  };
  std::string text = resident_line(timeline);
  for (TaskId id : execution_order(timeline)) {
    Json line = task_line(timeline, id);
    Json alloc = Json::array(), free = Json::array();
    for (BufferId buffer : program.writes[id.index()])
      alloc.push_back(
          Json::array({names[buffer], device_name(buffer), program.buffers[buffer].held().value}));
    for (BufferId buffer : released[id.index()])
      free.push_back(Json::array({names[buffer], device_name(buffer)}));
    line["alloc"] = std::move(alloc);
    line["free"] = std::move(free);
    const Task& task = program.tasks[id];
    line["stream"] = stream_name(program, id);
    if (task.part != kWhole) line["part"] = describe(program.part_of(task));
    if (task.again) line["again"] = true;
    text += json_text(line) + "\n";
  }
  return text;
}

}  // namespace strato
