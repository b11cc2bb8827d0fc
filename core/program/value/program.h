// The program: a strategy lowered to a DAG of tasks, each bound to the resources it occupies. The
// simulator, the exporters and the workers all consume this same value, so what is simulated is
// what runs.
//
// Stored as arrays (structure of arrays, compressed rows) because a search lowers and simulates
// thousands. Tasks are in a topological order: every dependency has a smaller id. Immutable once
// lowered.
//
//   resources: the streams of each device, then one per directed link
//   buffers:   one part of a tensor on one device
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/cluster/value/cluster.h"
#include "core/graph/group/grouping.h"
#include "core/graph/value/graph.h"
#include "core/strategy/value/variable_sync.h"

namespace strato {

using TaskId = Id<struct TaskTag>;
using BufferId = Id<struct BufferTag>;
using ResourceId = Id<struct ResourceTag>;
using PartId = Id<struct PartTag>;
constexpr PartId kWhole{0};  // of every program: all of a tensor

// A Sum that writes no buffer adds the second buffer that it reads to the first, in place.
enum class TaskKind : std::uint8_t {
  Compute,
  Split,
  Concat,
  Sum,
  Transfer,
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Reduce,
  Broadcast,
  Update,
  Offload,  // from a device into the memory of its host
  Fetch,    // back from there
};
std::string_view name_of(TaskKind kind);
// A copy between a device and the memory of its host.
inline bool is_host_copy(TaskKind kind) {
  return kind == TaskKind::Offload || kind == TaskKind::Fetch;
}
inline bool is_communication(TaskKind kind) {
  return kind != TaskKind::Compute && kind != TaskKind::Split && kind != TaskKind::Concat &&
         kind != TaskKind::Sum && kind != TaskKind::Update;
}

// What a device does one after another: it computes; it takes part in collectives inside a row of a
// mesh (MeshRoles::tensor), and in exchanges of tokens between experts (MeshRoles::expert); it
// communicates otherwise. Frameworks have a communicator, and a stream, for each dimension of a
// mesh, so that what the next op waits for is not behind gradients.
enum class Stream : std::uint8_t { Compute, Communication, TensorCommunication };
constexpr std::size_t kStreams = 3;
std::string_view name_of(Stream stream);  // "compute", "communication", "tensor communication"

struct Task {
  TaskKind kind = TaskKind::Compute;
  // Of a Split: what it makes stays for the step that follows, and is in no buffer.
  bool keeps = false;
  // What the backward pass computes, or moves, once more (Strategy::recomputed).
  bool again = false;
  Encoding encoding =
      Encoding::None;  // of what is sent; of a Split: it encodes, of a Sum or Concat: decodes
  OpId op;             // the op computed, or whose output is moved
  TensorId tensor;     // the tensor moved or reshuffled; invalid for Compute and Update
  DeviceId device;     // where it runs; a transfer's source; a collective's first member; of a copy
                       // between device and host this device
  DeviceId target;     // a transfer's destination; invalid otherwise
  // Of an op its part of the index space: samples, or a slice of its first output (of an update: of
  // its parameter). Of other tasks the part of the tensor that they make; what puts slices together
  // or scatters them names their axis, also where it has all of that; of an AllToAll what all of
  // its members have together.
  PartId part = kWhole;
  Bytes bytes;                // moved by communication, read + written by a local reshuffle
  Nanos duration;             // from the cost model that it was lowered with
  Nanos latency;              // of communication: the part of the duration that needs no bandwidth
  std::int32_t priority = 0;  // smaller runs first
  std::int32_t micro = 0;     // of which micro-batch, or the first that needs it
  // Nanoseconds that the processes of its devices need to start it: core/sim/engine/simulate.h.
  std::int32_t issue = 0;
};

struct Buffer {
  TensorId tensor;
  DeviceId device;
  Bytes bytes;
  // What it holds when it is written: an AllReduce in place makes the total of a partial sum.
  PartId part = kWhole;
  bool on_host = false;  // in the memory of the device's host, where only its Fetch reads it
  bool passed_on =
      false;  // from kernel to kernel, or within one, and never in memory (passed_on.h)
  Bytes held() const { return passed_on ? Bytes() : bytes; }
};

// A part of a tensor that stands on a device through the whole step: of a parameter, optimizer
// state, a constant, the input batch, or a gradient that is kept from step to step
// (VariableSync::staleness; a Split keeps it, see Task::keeps). What a task needs and reads in no
// buffer is resident on its device.
struct Resident {
  TensorId tensor;
  DeviceId device;
  Bytes bytes;
  PartId part = kWhole;
  // In the memory of the device's host: a Fetch makes a buffer of it, and an Offload brings back
  // what has become of that.
  bool on_host = false;
};

template <class T>
class Rows {  // compressed rows: row i is a span
 public:
  std::span<const T> operator[](std::size_t row) const {
    return {values_.data() + begin_[row], values_.data() + begin_[row + 1]};
  }
  std::span<T> mutable_row(std::size_t row) {
    return {values_.data() + begin_[row], values_.data() + begin_[row + 1]};
  }
  std::size_t row_count() const { return begin_.size() - 1; }
  std::uint32_t begin(std::size_t row) const { return begin_[row]; }  // index into data()
  const T* data() const { return values_.data(); }
  std::size_t value_count() const { return values_.size(); }
  void push(T value) { values_.push_back(value); }
  void push_row(std::span<const T> row) {
    for (const T value : row) values_.push_back(value);
    end_row();
  }
  void end_row() { begin_.push_back(static_cast<std::uint32_t>(values_.size())); }
  void clear() {
    begin_.assign(1, 0);
    values_.clear();
  }

 private:
  std::vector<std::uint32_t> begin_ = {0};
  std::vector<T> values_;
};

template <class T>
bool is_ascending(std::span<const T> row) {  // strictly
  return std::ranges::adjacent_find(row, std::greater_equal<>()) == row.end();
}

struct Program {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Cluster> cluster;
  std::int32_t micro_batches = 1;
  // Devices that do the same as another one are left out (symmetry.h): scores are those of the
  // whole, but it is not a program to run.
  bool is_outline = false;
  // Processes that start tasks wait for what other devices send (CostModel::issue_after_transfers).
  bool issues_after_transfers = false;
  // Of several micro-batches, by device: which stage of the pipeline it is of, along the pipeline;
  // -1: it computes nothing of the batch. Empty: there is one micro-batch.
  IdVector<DeviceId, std::int32_t> stage_of;

  IdVector<TaskId, Task> tasks;
  Rows<TaskId> dependencies;   // row = task; ascending, unique, all smaller than the task
  Rows<ResourceId> resources;  // row = task; ascending, unique, at least one
  Rows<BufferId> writes;       // row = task; buffers taken when it starts
  Rows<BufferId> reads;        // row = task; a buffer is released when its last reader ends
  IdVector<BufferId, Buffer> buffers;
  IdVector<PartId, Part> parts{Part()};  // each one once; the first is the whole
  // Ascending by (device, tensor); several of one tensor on one device are of different parts.
  std::vector<Resident> residents;

  const Part& part_of(const Task& task) const { return parts[task.part]; }
  const Part& part_of(BufferId buffer) const { return parts[buffers[buffer].part]; }  // as written
  const Part& part_of(const Resident& resident) const { return parts[resident.part]; }
  std::span<const Resident> residents_of(TensorId tensor, DeviceId device) const;
  // The axes other than the batch along which the task is divided.
  std::span<const AxisRange> cuts_of(const Task& task) const { return part_of(task).cuts(); }
  // The first of these, or else the task's samples.
  AxisRange range_of(const Task& task) const;
  // How many samples the task works on: the whole batch, where its part does not say.
  std::int64_t samples_of(const Task& task) const;
  // Which part of its samples' work an op's task does: less than 1 where it is divided otherwise.
  double share_of(const Task& task) const;
  std::size_t resource_count() const;
  ResourceId stream(DeviceId device, Stream kind) const {
    return ResourceId(kStreams * device.index() + static_cast<std::size_t>(kind));
  }
  ResourceId compute_stream(DeviceId device) const { return stream(device, Stream::Compute); }
  ResourceId communication_stream(DeviceId device) const {
    return stream(device, Stream::Communication);
  }
  std::size_t stream_count() const { return kStreams * cluster->device_count(); }  // then links
  bool is_link(ResourceId resource) const { return resource.index() >= stream_count(); }
  // Of a stream.
  static DeviceId device_of(ResourceId stream) { return DeviceId(stream.index() / kStreams); }
  static Stream kind_of(ResourceId stream) {
    return static_cast<Stream>(stream.index() % kStreams);
  }
  ResourceId link(LinkId link) const { return ResourceId(stream_count() + link.index()); }
  LinkId link_of(ResourceId link) const { return LinkId(link.index() - stream_count()); }
  // Which of its devices' streams a task is on. A transfer, or a copy to or from the host, occupies
  // none: it is with communication.
  Stream stream_of(TaskId task) const {
    const ResourceId first = resources[task.index()].front();
    return is_link(first) ? Stream::Communication : kind_of(first);
  }
  // "v100:0 compute", "v100:0 comm", "v100:0 tensor comm", link name
  std::string resource_name(ResourceId resource) const;
  std::string task_name(TaskId task) const;  // "Conv_17 @v100:0 [0,6)", "AllReduce grad(w)"
};

}  // namespace strato
