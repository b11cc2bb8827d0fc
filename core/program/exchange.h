// Lowering's exchanges: where every tensor stands, and the Split, Concat, Sum, Transfer and
// collective tasks that bring it where it is needed (TAG 4.3.1). Answers are remembered, so that
// two readers share one.
//
// After its producer ran a tensor stands on the producer's devices, whole, in slices, or in partial
// sums. Then
// - a slice comes from the device's own copy (Split), or from the nearest copy or the owners of the
//   slices that overlap it: Split there, Transfer, and Concat where there are several pieces;
// - a whole tensor comes from the nearest copy (same device group, same machine, others; equally
// near ones take
//   turns); from slices by one AllGather when exactly their owners need it, else by Transfers and
//   a Concat; from partial sums by one AllReduce when exactly their owners need it and the makers'
//   or the reader's group is ReplicateAllReduce, else by Transfers to the first device in need, a
//   Sum there, and Transfers from there to others;
// - an AllReduce works in place, unless a partial sum that it would overwrite has another reader;
// - parameters are at home where their update op's group is placed, and are fetched from the
// nearest home at
//   the start of the step elsewhere; all other tensors without a producer are resident where they
//   are read.
#pragma once

#include <optional>
#include <vector>

#include "core/program/emitter.h"
#include "core/program/placement.h"

namespace strato {

class Exchange {
 public:
  Exchange(Tables& tables, const Placement& placement, Emitter& emitter);
  void start(Program& program);

  // What shard `index` of `op`'s layout reads of an input; adds the tasks that bring it there.
  Instance input(OpId op, TensorId tensor, std::size_t index);
  // Declares where an output stands: the instances follow in the order of the layout's shards.
  void begin_output(TensorId tensor, LayoutId layout);
  void add_output(const Instance& instance) { instances_.push_back(instance); }

  // Sends a parameter's new value from where task `updated` made it to its other homes, in place.
  void return_parameter(TensorId parameter, OpId update, TaskId updated);

  Bytes bytes_of(TensorId tensor, std::int32_t begin, std::int32_t end) const;

  // Writes program.residents from what was read so far.
  void list_residents() const;

 private:
  enum class Form : std::uint8_t { Absent, Whole, Slices, Partials };
  struct Made {
    std::int32_t first = -1;  // in instances_, one for each shard of the layout
    LayoutId layout = -1;
    std::int32_t extras = -1;  // list of instances that exchanges made
    std::int32_t fetches = 0;  // from equally near copies, to take turns
    Form form = Form::Absent;
    bool no_collective = false;
    DeviceId root;  // where partial sums were summed up
  };
  struct Range {  // of samples that are resident on a device; empty: none
    std::int32_t begin = 0, end = 0;
  };

  Instance whole(OpId reader, TensorId tensor, DeviceId device);
  Instance slice(TensorId tensor, DeviceId device, std::int32_t begin, std::int32_t end);
  Instance resident(TensorId tensor, DeviceId device, std::int32_t begin, std::int32_t end);
  Instance parameter(TensorId tensor, DeviceId device);

  // Exchanges proper (exchange_steps.cpp): each adds tasks and remembers the instance.
  Instance split(TensorId tensor, const Instance& from, std::int32_t begin, std::int32_t end);
  Instance concat(TensorId tensor, DeviceId device, std::vector<Instance>& pieces);
  Instance transfer(TensorId tensor, const Instance& from, DeviceId to);
  Instance send(TensorId tensor, const Instance& from, DeviceId to);
  Instance sum_at(TensorId tensor, DeviceId root);
  void all_gather(TensorId tensor);
  void all_reduce(TensorId tensor);
  CollectiveCost collective_cost(Collective kind, TensorId tensor);
  Task communication(TaskKind kind, TensorId tensor) const;

  std::optional<Instance> local(TensorId tensor, DeviceId device, std::int32_t begin,
                                std::int32_t end) const;
  std::optional<Instance> covering(TensorId tensor, DeviceId device, std::int32_t begin,
                                   std::int32_t end) const;
  DeviceId nearest(TensorId tensor, const Layout& copies, DeviceId to);
  bool needed_by_owners_only(TensorId tensor);
  bool may_reduce_in_place(TensorId tensor) const;
  const Instance& made_at(const Made& made, std::size_t index) const {
    return instances_[static_cast<std::size_t>(made.first) + index];
  }
  Instance remember(TensorId tensor, Instance instance);

  Tables& tables_;
  const Placement& placement_;
  Emitter& emitter_;
  Program* program_ = nullptr;
  IdVector<TensorId, Made> made_;
  std::vector<Instance> instances_;
  std::vector<Range> resident_;               // slot x device
  IdVector<DeviceId, std::uint32_t> marked_;  // == mark_: in the set being built
  std::uint32_t mark_ = 0;
  std::vector<DeviceId> members_;
};

}  // namespace strato
