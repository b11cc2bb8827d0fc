#include "core/program/lower/verify.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/program/value/collective.h"
#include "core/program/value/program_task.h"

namespace strato {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {
    writer_.resize(program.buffers.size());
    resident_.resize(program.cluster->device_count() * program.graph->tensor_count());
    on_host_.resize(resident_.size());
  }

  void run() {
    check_sizes();
    check_buffers();
    for (std::size_t i = 0; i < program_.tasks.size(); ++i) check_task(TaskId(i));
    for (TaskId writer : writer_) CHECK(writer.valid(), "a buffer that nothing writes");
  }

 private:
  std::string at(TaskId id) const { return "task " + std::to_string(id.value()); }

  void check_sizes() {
    const std::size_t tasks = program_.tasks.size();
    CHECK(program_.dependencies.row_count() == tasks && program_.resources.row_count() == tasks &&
              program_.writes.row_count() == tasks && program_.reads.row_count() == tasks,
          "rows do not match the tasks");
  }

  std::size_t place(TensorId tensor, DeviceId device) const {
    return device.index() * program_.graph->tensor_count() + tensor.index();
  }
  bool device_exists(DeviceId d) const {
    return d.valid() && d.index() < program_.cluster->device_count();
  }
  bool tensor_exists(TensorId t) const {
    return t.valid() && t.index() < program_.graph->tensor_count();
  }

  void check_buffers() {
    for (const Buffer& buffer : program_.buffers)
      CHECK(device_exists(buffer.device) && tensor_exists(buffer.tensor) && buffer.bytes > Bytes(0),
            "a buffer without tensor, device or bytes");
    const Resident* before = nullptr;
    for (const Resident& resident : program_.residents) {
      CHECK(device_exists(resident.device) && tensor_exists(resident.tensor) &&
                resident.bytes > Bytes(0) && resident.part.valid() &&
                resident.part.index() < program_.parts.size() &&
                is_part_of(program_.part_of(resident), program_.graph->tensor(resident.tensor),
                           program_.graph->batch()),
            "resident bytes without tensor, device, size or part");
      CHECK(!before || std::pair(before->device, before->tensor) <=
                           std::pair(resident.device, resident.tensor),
            "residents not ascending");
      for (const Resident& other : program_.residents_of(resident.tensor, resident.device))
        CHECK(&other == &resident || other.part != resident.part, "a part is resident twice");
      before = &resident;
      (resident.on_host ? on_host_ : resident_)[place(resident.tensor, resident.device)] = true;
    }
  }

  void check_task(TaskId id) {
    const Task& task = program_.tasks[id];
    CHECK(task.duration > Nanos(0), at(id) + " takes no time");
    CHECK(device_exists(task.device), at(id) + " has no device");
    const bool computes = task.kind == TaskKind::Compute || task.kind == TaskKind::Update;
    CHECK(!computes || (task.op.valid() && task.op.index() < program_.graph->op_count()),
          at(id) + " has no op");
    CHECK(computes || (tensor_exists(task.tensor) && task.bytes > Bytes(0)),
          at(id) + " moves nothing");
    CHECK(task.part.valid() && task.part.index() < program_.parts.size() &&
              is_part_of(program_.part_of(task), divided(task), program_.graph->batch()),
          at(id) + " works on a part that is not there");
    CHECK(!task.keeps || (task.kind == TaskKind::Split && program_.writes[id.index()].empty()),
          at(id) + " keeps what it makes, and makes it");
    const auto dependencies = program_.dependencies[id.index()];
    CHECK(is_ascending(dependencies), at(id) + ": dependencies not ascending");
    CHECK(dependencies.empty() || (dependencies.front().valid() && dependencies.back() < id),
          at(id) + " depends on a later task");
    check_resources(id, task);
    check_writes(id, task);
    check_reads(id, task);
    if (task.kind == TaskKind::AllReduce) check_sum(id, task);
    if (task.kind == TaskKind::ReduceScatter) check_scatter(id, task);
    if (task.kind == TaskKind::AllGather) check_gather(id, task);
    if (task.kind == TaskKind::AllToAll) check_swap(id, task);
    if (is_host_copy(task.kind)) check_host_copy(id, task);
  }

  // What its part is a part of.
  const Tensor& divided(const Task& task) const {
    if (task.tensor.valid()) return program_.graph->tensor(task.tensor);
    const Op& op = program_.graph->op(task.op);
    const bool updates = task.kind == TaskKind::Update || op.outputs.empty();
    return program_.graph->tensor(updates ? op.inputs.front() : op.outputs.front());
  }

  void check_resources(TaskId id, const Task& task) {
    const auto resources = program_.resources[id.index()];
    CHECK(!resources.empty() && is_ascending(resources) && resources.front().valid() &&
              resources.back().index() < program_.resource_count(),
          at(id) + ": bad resources");
    if (!is_communication(task.kind)) {
      CHECK(resources.size() == 1 && resources[0] == program_.compute_stream(task.device),
            at(id) + " is not on its compute stream");
    } else if (task.kind == TaskKind::Transfer) {
      CHECK(device_exists(task.target) && task.target != task.device, at(id) + " goes nowhere");
      std::vector<ResourceId> links;
      for (LinkId link : program_.cluster->path(task.device, task.target).links)
        links.push_back(program_.link(link));
      std::sort(links.begin(), links.end());
      CHECK(std::equal(links.begin(), links.end(), resources.begin(), resources.end()),
            at(id) + " is not on its path");
    } else if (is_host_copy(task.kind)) {
      const Cluster& cluster = *program_.cluster;
      const Path path = task.kind == TaskKind::Offload ? cluster.path_to_host(task.device)
                                                       : cluster.path_from_host(task.device);
      CHECK(path.links.size() == resources.size() &&
                resources.front() == program_.link(path.links[0]),
            at(id) + " is not on the way to its host");
    } else {
      check_members(id, task, resources);
    }
  }

  void check_members(TaskId id, const Task& task, std::span<const ResourceId> resources) {
    const Stream stream = program_.stream_of(id);
    CHECK(stream != Stream::Compute, at(id) + " is on a compute stream");
    std::size_t members = 0;
    for (ResourceId resource : resources) {
      if (program_.is_link(resource)) break;
      CHECK(Program::kind_of(resource) == stream, at(id) + " is on streams of several kinds");
      ++members;
    }
    CHECK(members >= 2, at(id) + " has fewer than two members");
    CHECK(resources[0] == program_.stream(task.device, stream), at(id) + ": first member differs");
  }

  // An AllReduce sums up the same tensors on every member, each once, and moves all their bytes; of
  // several it works in place.
  void check_sum(TaskId id, const Task& task) {
    const std::vector<DeviceId> members = members_of(program_, id);
    const MemberBuffers reads(program_, program_.reads[id.index()]);
    const auto first = reads.of(members.front());
    CHECK(!first.empty() && (first.size() == 1 || program_.writes[id.index()].empty()),
          at(id) + " sums up nothing, or several tensors into others");
    const auto tensor = [&](BufferId buffer) { return program_.buffers[buffer].tensor; };
    for (DeviceId member : members)
      CHECK(std::ranges::equal(reads.of(member), first, {}, tensor, tensor),
            at(id) + " sums up other tensors on each member");
    Bytes bytes;
    for (BufferId buffer : first) bytes += program_.buffers[buffer].bytes;
    CHECK(bytes == task.bytes, at(id) + " moves other bytes than it reads");
  }

  // A ReduceScatter sums up one tensor, of which every member has terms and gets one slice. The
  // slices make up the whole; one of no byte counts as one byte.
  void check_scatter(TaskId id, const Task& task) {
    const MemberBuffers reads(program_, program_.reads[id.index()]),
        writes(program_, program_.writes[id.index()]);
    Bytes slices;
    for (DeviceId member : members_of(program_, id)) {
      const auto terms = reads.of(member);
      CHECK(terms.size() == 1 && program_.buffers[terms[0]].tensor == task.tensor,
            at(id) + " sums up something else on a member");
      CHECK(bytes_of(terms) == task.bytes, at(id) + " moves other bytes than it reads");
      slices += bytes_of(writes.of(member));
    }
    CHECK(slices >= task.bytes, at(id) + " loses a part of the sum");
  }

  // An AllGather has a slice from every member, or what is resident there (or a view of that), and
  // leaves all of it on every one.
  void check_gather(TaskId id, const Task& task) {
    const MemberBuffers reads(program_, program_.reads[id.index()]),
        writes(program_, program_.writes[id.index()]);
    for (DeviceId member : members_of(program_, id)) {
      CHECK(reads.of(member).size() == 1 || resident_[place(task.tensor, member)] ||
                program_.graph->tensor(task.tensor).producer.valid(),
            at(id) + " has nothing from a member");
      CHECK(bytes_of(writes.of(member)) == task.bytes, at(id) + " does not leave all on a member");
    }
  }
  // An AllToAll has one part of all from each member, and leaves it another one.
  void check_swap(TaskId id, const Task& task) {
    const MemberBuffers reads(program_, program_.reads[id.index()]),
        writes(program_, program_.writes[id.index()]);
    Bytes read, written;
    for (DeviceId member : members_of(program_, id)) {
      CHECK(reads.of(member).size() == 1 && writes.of(member).size() == 1,
            at(id) + " has not one part and one place on a member");
      read += bytes_of(reads.of(member));
      written += bytes_of(writes.of(member));
    }
    CHECK(read >= task.bytes && written >= task.bytes, at(id) + " loses a part of it");
  }
  // It has one thing on the device, and one on the host, in a buffer or resident.
  void check_host_copy(TaskId id, const Task& task) {
    const auto reads = program_.reads[id.index()], writes = program_.writes[id.index()];
    const bool out = task.kind == TaskKind::Offload;
    const auto on_device = out ? reads : writes, on_host = out ? writes : reads;
    CHECK(on_device.size() == 1 && on_host.size() <= 1, at(id) + " copies not one buffer");
    CHECK(!on_host.empty() || on_host_[place(task.tensor, task.device)],
          at(id) + " has nothing on the host");
    for (const auto row : {reads, writes})
      for (const BufferId buffer : row)
        CHECK(program_.buffers[buffer].bytes == task.bytes &&
                  program_.buffers[buffer].tensor == task.tensor,
              at(id) + " copies other bytes than it has");
  }
  Bytes bytes_of(std::span<const BufferId> of_member) const {
    CHECK(of_member.size() <= 1, "a collective has several buffers on a member");
    return of_member.empty() ? Bytes(0) : program_.buffers[of_member.front()].bytes;
  }

  bool takes_part(const Task& task, TaskId id, DeviceId device) const {
    if (!is_communication(task.kind) || task.kind == TaskKind::Transfer || is_host_copy(task.kind))
      return device == task.device;
    const auto resources = program_.resources[id.index()];
    return std::binary_search(resources.begin(), resources.end(),
                              program_.stream(device, program_.stream_of(id)));
  }

  void check_writes(TaskId id, const Task& task) {
    const auto writes = program_.writes[id.index()];
    for (BufferId buffer : writes) {
      CHECK(buffer.valid() && buffer.index() < program_.buffers.size(),
            at(id) + " writes no buffer");
      CHECK(!writer_[buffer.index()].valid(), at(id) + " writes a buffer again");
      writer_[buffer.index()] = id;
      const Buffer& to = program_.buffers[buffer];
      CHECK(task.kind == TaskKind::Transfer ? to.device == task.target
                                            : takes_part(task, id, to.device),
            at(id) + " writes on another device");
      CHECK(!task.tensor.valid() || to.tensor == task.tensor, at(id) + " writes another tensor");
      CHECK(to.on_host == (task.kind == TaskKind::Offload), at(id) + " writes at the wrong end");
    }
    CHECK(task.kind != TaskKind::Split || task.keeps || writes.size() == 1,
          at(id) + " makes nothing");
    CHECK(!task.keeps || resident_[place(task.tensor, task.device)], at(id) + " keeps nothing");
    if (task.kind == TaskKind::Transfer && writes.empty())
      CHECK(resident_[place(task.tensor, task.target)], at(id) + " arrives nowhere");
  }

  void check_reads(TaskId id, const Task& task) {
    const auto reads = program_.reads[id.index()];
    CHECK(is_ascending(reads), at(id) + ": reads not ascending");
    for (BufferId buffer : reads) {
      CHECK(buffer.valid() && buffer.index() < program_.buffers.size(),
            at(id) + " reads no buffer");
      CHECK(takes_part(task, id, program_.buffers[buffer].device),
            at(id) + " reads on another device");
      CHECK(is_ready(id, buffer), at(id) + " reads a buffer that it does not wait for");
      CHECK(program_.buffers[buffer].on_host == (task.kind == TaskKind::Fetch),
            at(id) + " reads at the wrong end");
    }
    if (task.kind == TaskKind::Transfer && reads.empty())
      CHECK(resident_[place(task.tensor, task.device)] ||  // or a view of resident bytes
                program_.graph->tensor(task.tensor).producer.valid(),
            at(id) + " sends nothing");
  }

  // It waits for the writer, or for a collective, a sum or an update that changed the buffer in
  // place.
  bool is_ready(TaskId id, BufferId buffer) const {
    const TaskId writer = writer_[buffer.index()];
    if (!writer.valid() || writer == id) return false;
    for (TaskId dependency : program_.dependencies[id.index()]) {
      if (dependency == writer) return true;
      const auto read = program_.reads[dependency.index()];
      const TaskKind kind = program_.tasks[dependency].kind;
      const bool in_place = (kind == TaskKind::Sum || kind == TaskKind::Update) &&
                            program_.writes[dependency.index()].empty();
      if ((in_place || is_communication(kind)) &&
          std::binary_search(read.begin(), read.end(), buffer))
        return true;
    }
    return false;
  }

  const Program& program_;
  std::vector<TaskId> writer_;  // by buffer
  std::vector<bool> resident_, on_host_;
};

}  // namespace

void verify(const Program& program) {
  Verifier(program).run();
  verify_parts(program);
}

}  // namespace strato
