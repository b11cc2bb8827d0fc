// Execution traces for ASTRA-sim and other readers of MLCommons' Chakra, one a device:
//
//   trace.N.et        of device N of the cluster, in its order: messages by trace.proto, each after
//                     its size as a varint; first the metadata, then nodes
//   comm_groups.json  {"1": [0, 1], ...}: the members of the collectives that not all devices join,
//                     and of those inside the rows of a mesh, which have groups of their own
//   devices.json      which device is which, and the simulated step time
//
// Compute, reshuffling and updating are compute nodes, with duration, flops and bytes; a transfer
// is a send node at its source and a receive node at its destination with the same tag; a
// collective is a node at each of its members; a copy to the memory of a host is a memory store
// node, one from there a load node. Data dependencies are the program's. Control
// dependencies keep each stream of a device in the order in which it was simulated, which is one
// order over all devices: so sends and receives that block cannot wait for each other in a circle.
// Node ids ascend in it, too.
//
//   AstraSim... --workload-configuration=FOLDER/trace
//   --comm-group-configuration=FOLDER/comm_groups.json
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/io/json.h"
#include "core/plugin/api/plugin.h"
#include "core/program/value/collective.h"
#include "core/sim/timeline/timeline.h"
#include "trace.pb.h"

namespace strato {
namespace {

namespace proto = stratoscope::chakra;

constexpr const char* kSchemaVersion = "0.0.4";

void append(std::string& text, const google::protobuf::Message& message) {
  google::protobuf::io::StringOutputStream stream(&text);
  google::protobuf::util::SerializeDelimitedToZeroCopyStream(message, &stream);
}

template <class Message>  // metadata or a node
proto::Attribute& add_attribute(Message& message, const char* name) {
  proto::Attribute& attribute = *message.add_attributes();
  attribute.set_name(name);
  return attribute;
}

std::uint64_t microseconds(Nanos time) {
  return static_cast<std::uint64_t>((time.value + 500) / 1000);
}

proto::Collective collective_type(TaskKind kind) {
  static const std::map<TaskKind, proto::Collective> types = {
      {TaskKind::AllGather, proto::ALL_GATHER},
      {TaskKind::ReduceScatter, proto::REDUCE_SCATTER},
      {TaskKind::AllToAll, proto::ALL_TO_ALL},
      {TaskKind::Reduce, proto::REDUCE},
      {TaskKind::Broadcast, proto::BROADCAST}};
  const auto type = types.find(kind);
  return type != types.end() ? type->second : proto::ALL_REDUCE;
}

class Traces {
 public:
  explicit Traces(const ExportInput& input)
      : timeline_(*input.outcome.timeline),
        program_(*timeline_.program),
        devices_(program_.cluster->device_count()),
        number_of_(program_.tasks.size()),
        content_(devices_),
        last_(devices_) {}

  std::vector<ExportedFile> write() {
    for (std::string& content : content_) append(content, metadata());
    std::uint64_t number = 0;
    for (const TaskId task : execution_order(timeline_)) {
      number_of_[task] = ++number;
      for (const DeviceId device : devices_of(task)) write_node(task, device);
    }
    std::vector<ExportedFile> files;
    for (std::size_t i = 0; i < devices_; ++i) {
      if (last_[i] == Lines()) write_idle(DeviceId(i));
      files.push_back({"trace." + std::to_string(i) + ".et", std::move(content_[i])});
    }
    Json groups = Json::object();
    for (const auto& [group, id] : groups_) groups[std::to_string(id)] = group.second;
    files.push_back({"comm_groups.json", groups.dump() + "\n"});
    files.push_back({"devices.json", devices().dump(1) + "\n"});
    return files;
  }

 private:
  proto::Metadata metadata() const {
    proto::Metadata metadata;
    metadata.set_version(kSchemaVersion);
    add_attribute(metadata, "model").set_string_value(program_.graph->name());
    return metadata;
  }

  Json devices() const {
    Json json{{"model", program_.graph->name()},
              {"cluster", program_.cluster->name()},
              {"step_time_ns", timeline_.step_time.value}};
    for (const Device& device : program_.cluster->devices()) json["devices"].push_back(device.name);
    return json;
  }

  std::vector<DeviceId> devices_of(TaskId id) const {
    const Task& task = program_.tasks[id];
    if (task.kind == TaskKind::Transfer) return {task.device, task.target};
    if (is_host_copy(task.kind)) return {task.device};
    if (is_communication(task.kind)) return members_of(program_, id);
    return {task.device};
  }

  void write_node(TaskId id, DeviceId device) {
    const Task& task = program_.tasks[id];
    proto::Node node;
    node.set_id(number_of_[id]);
    node.set_name(program_.task_name(id));
    node.set_start_microseconds(microseconds(timeline_.tasks[id].start));
    const Nanos duration = timeline_.tasks[id].end - timeline_.tasks[id].start;
    node.set_duration_microseconds(microseconds(duration));
    add_attribute(node, "is_cpu_op").set_bool_value(false);
    add_attribute(node, "duration_ns").set_int64_value(duration.value);
    add_dependencies(node, id, device);
    if (task.kind == TaskKind::Transfer) {
      describe_transfer(node, task, device == task.device);
    } else if (is_host_copy(task.kind)) {
      node.set_kind(task.kind == TaskKind::Offload ? proto::MEMORY_STORE : proto::MEMORY_LOAD);
      add_size(node, task.bytes);
    } else if (is_communication(task.kind)) {
      describe_collective(node, id);
    } else {
      describe_compute(node, task);
    }
    append(content_[device.index()], node);
  }

  void add_dependencies(proto::Node& node, TaskId id, DeviceId device) {
    for (const TaskId before : program_.dependencies[id.index()])
      if (std::ranges::count(devices_of(before), device) > 0) node.add_needs(number_of_[before]);
    std::uint64_t& before = last_[device.index()][line_of(id)];
    if (before != 0 && std::ranges::count(node.needs(), before) == 0)
      node.add_ordered_after(before);
    before = node.id();
  }

  // Copies to the host are in one order, and those from there in another one.
  std::size_t line_of(TaskId id) const {
    const TaskKind kind = program_.tasks[id].kind;
    if (!is_host_copy(kind)) return static_cast<std::size_t>(program_.stream_of(id));
    return kStreams + (kind == TaskKind::Fetch ? 1 : 0);
  }

  void describe_compute(proto::Node& node, const Task& task) const {
    node.set_kind(proto::COMPUTE);
    double flops = 0;
    Bytes bytes = task.bytes;
    if (task.op.valid() && (task.kind == TaskKind::Compute || task.kind == TaskKind::Update)) {
      const Op& op = program_.graph->op(task.op);
      const double part = static_cast<double>(program_.samples_of(task)) /
                          static_cast<double>(program_.graph->batch()) * program_.share_of(task);
      flops = op.work.flops * part;
      const double moved = static_cast<double>(op.work.batch_bytes.value) * part;
      bytes = Bytes(static_cast<std::int64_t>(moved)) + op.work.fixed_bytes;
    }
    add_attribute(node, "num_ops").set_uint64_value(static_cast<std::uint64_t>(flops));
    add_size(node, bytes);
  }

  static void add_size(proto::Node& node, Bytes bytes) {
    add_attribute(node, "tensor_size")
        .set_uint64_value(static_cast<std::uint64_t>(std::max<std::int64_t>(1, bytes.value)));
  }

  void describe_transfer(proto::Node& node, const Task& task, bool sends) const {
    node.set_kind(sends ? proto::SEND : proto::RECEIVE);
    add_attribute(node, "comm_src").set_int32_value(task.device.value());
    add_attribute(node, "comm_dst").set_int32_value(task.target.value());
    add_attribute(node, "comm_tag").set_int32_value(static_cast<std::int32_t>(node.id()));
    add_attribute(node, "comm_size").set_int64_value(task.bytes.value);
  }

  // The size of what one member brings.
  void describe_collective(proto::Node& node, TaskId id) {
    const Task& task = program_.tasks[id];
    const std::vector<DeviceId> members = members_of(program_, id);
    const bool has_part = task.kind == TaskKind::AllGather || task.kind == TaskKind::AllToAll;
    const std::int64_t pieces = has_part ? std::ssize(members) : 1;
    const std::int64_t bytes = (task.bytes.value + pieces - 1) / pieces;
    node.set_kind(proto::COLLECTIVE);
    add_attribute(node, "comm_type").set_int64_value(collective_type(task.kind));
    add_attribute(node, "comm_size").set_int64_value(bytes);
    const Stream stream = program_.stream_of(id);
    if (stream == Stream::Communication && members.size() == devices_)
      return;  // nothing said: all of them
    Group of{stream, {}};
    for (const DeviceId member : members) of.second.push_back(member.value());
    const auto group = groups_.try_emplace(of, static_cast<int>(groups_.size()) + 1).first;
    add_attribute(node, "pg_name").set_string_value(std::to_string(group->second));
  }

  // Readers want one node at least.
  void write_idle(DeviceId device) {
    proto::Node node;
    node.set_id(program_.tasks.size() + 1);
    node.set_name("idle");
    append(content_[device.index()], node);
  }

  const Timeline& timeline_;
  const Program& program_;
  std::size_t devices_;
  IdVector<TaskId, std::uint64_t> number_of_;             // in the order, from 1
  std::vector<std::string> content_;                      // by device
  using Lines = std::array<std::uint64_t, kStreams + 2>;  // streams, and copies of each way
  std::vector<Lines> last_;                               // nodes; 0: none so far
  using Group = std::pair<Stream, std::vector<int>>;      // and its members
  std::map<Group, int> groups_;                           // id
};

std::vector<ExportedFile> export_chakra(const ExportInput& input) { return Traces(input).write(); }

}  // namespace
}  // namespace strato

STRATOSCOPE_EXPORTER_FUNCTION(strato::export_chakra)
