// Lowering's exchanges: where every tensor stands, and the Split, Concat, Sum, Transfer and
// collective tasks that bring it where it is needed (TAG 4.3.1). Answers are remembered, so that
// two readers share one.
//
// After its producer ran a tensor stands on the producer's devices, whole, in slices, or in partial
// sums. Then
// - a slice comes from the device's own copy (Split), or from the nearest copy or the owners of the
//   slices that overlap it: Split there, Transfer, and Concat where there are several pieces;
// - a whole tensor comes from the nearest copy (same device group, same machine, others; equally
//   near ones take turns); from slices by one AllGather when exactly their owners need it, else by
//   Transfers and a Concat; from partial sums by one AllReduce when exactly their owners need it
//   and the makers' or the reader's group is ReplicateAllReduce, else by Transfers to the first
//   device in need, a Sum there, and Transfers from there to others; with buckets, AllReduces are
//   fused beforehand (see exchange_fusion.cpp);
// - partial sums of which exactly their owners need just slices along one axis, each another one,
//   are brought there by one ReduceScatter where they would be all-reduced otherwise; a parameter
//   that is kept in parts and read whole by exactly the devices that keep them, by one AllGather at
//   the start of the step (exchange_scatter.cpp);
// - every task of an exchange has the priority of the first of the tensor's readers in the
//   execution order: it is in nobody else's interest. What sends an updated parameter back has its
//   update's;
// - a part of an op that is split along another axis than the batch reads slices along its inputs'
//   axes (exchange_parts.cpp): a Split where the tensor stands, then a Transfer; what such an op
//   makes stands in parts, which other readers gather by Transfers and a Concat, and a reader that
//   is split along the same axis takes as they are;
// - an AllReduce works in place, unless a partial sum that it would overwrite has another reader;
// - parameters are at home where their update op's group is placed, and are fetched from the
// nearest
//   home at the start of the step elsewhere; all other tensors without a producer are resident
//   where they are read;
// - a stale parameter (VariableSync::staleness) is copied on its homes when the step begins, and
//   read as it was then: its new value may come at any time.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/program/place/emitter.h"
#include "core/program/place/placement.h"

namespace strato {

// A part of a tensor along another axis than the batch.
struct AxisSlice {
  int axis = -1;  // -1: all of it
  std::int32_t begin = 0, end = 1, extent = 1;
  friend bool operator==(const AxisSlice&, const AxisSlice&) = default;
};

inline AxisSlice slice_of(const Layout& split, std::size_t part, int axis) {
  return {axis, split.cuts[part], split.cuts[part + 1], split.cuts.back()};
}

class Exchange {
 public:
  Exchange(Tables& tables, Placement& placement, Emitter& emitter);
  void start(Program& program);
  // By op, for the tasks that follow; empty: first in, first out.
  void set_priorities(std::span<const std::int32_t> priorities);
  std::int32_t priority(OpId op) const { return priorities_.empty() ? 0 : priorities_[op.index()]; }

  // What shard `index` of `op`'s layout reads of an input; adds the tasks that bring it there.
  Instance input(OpId op, TensorId tensor, std::size_t index);
  // Every shard's input() of bytes that are resident wherever they are read: there is nothing to
  // wait for.
  void read_resident(OpId op, TensorId tensor);
  // The instance for shard 0 where every shard of the layout has the input at hand, and the others
  // follow it; else -1.
  std::int32_t at_hand(TensorId tensor, LayoutId layout) const {
    return made_[tensor].layout == layout ? made_[tensor].first : -1;
  }
  const Instance& instance(std::size_t at) const { return instances_[at]; }
  // Declares that an output stands in the layout. One instance a shard is to be set: the index of
  // the first is returned.
  std::size_t begin_output(TensorId tensor, LayoutId layout);
  void set_output(std::size_t at, const Instance& instance) { instances_[at] = instance; }

  // What a part of a split op reads of an input; adds the tasks that bring it there.
  Instance part_input(OpId op, TensorId tensor, DeviceId device, const AxisSlice& slice);
  // The output was declared in the layout of a split op. axis: of this output; -1 when it is not
  // known along which of its axes it is divided.
  void stand_in_parts(TensorId output, int axis);
  Bytes bytes_of(TensorId tensor, const AxisSlice& slice) const;
  // Which part of the tensor an instance is, in the tensor's kind of the batch.
  PartId part_of(TensorId tensor, const Instance& instance);
  PartId part_of(const AxisSlice& slice);
  // Bytes of a tensor without producer are resident on the device from now on: all of them, or as
  // many, which were not kept there yet.
  void keep(TensorId tensor, DeviceId device);
  void keep_some(TensorId tensor, DeviceId device, Bytes bytes);
  // Bytes of a gradient stay on the device from step to step.
  void carry(TensorId gradient, DeviceId device, Bytes bytes) {
    carried_[{device, gradient}] += bytes;
  }
  // Of the layout's devices. Sets members_, too.
  const CollectiveCost& collective_cost(Collective kind, LayoutId layout, Bytes bytes);
  Nanos move_time(DeviceId device, Bytes moved) const;

  // Delta lowering. What was made stays; copies that exchanges made of it are forgotten.
  void forget_copies(TensorId tensor);
  std::size_t first_output(TensorId tensor) const {
    return static_cast<std::size_t>(made_[tensor].first);
  }
  // Bytes of a tensor without producer that are resident on a device.
  Bytes resident_bytes(TensorId tensor, DeviceId device) const;
  void forget_residents(TensorId tensor);
  void add_homes(TensorId parameter);

  // Sends a parameter's new value from where task `updated` made it to its other homes, in place.
  void return_parameter(TensorId parameter, OpId update, TaskId updated);

  // All-reduces what waits for the updates in buckets of at most `limit` bytes. Call it when every
  // gradient is made and before the first update.
  void fuse_gradients(Bytes limit);

  Bytes bytes_of(TensorId tensor, std::int32_t begin, std::int32_t end) const {
    return slice_bytes(tables_.tensors[tensor], begin, end, tables_.batch);
  }

  // Writes program.residents from what was read so far.
  void list_residents() const;

 private:
  enum class Form : std::uint8_t { Absent, Whole, Slices, Partials, Parts };
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
    void add(std::int32_t from, std::int32_t to) {
      begin = begin == end ? from : std::min(begin, from);
      end = std::max(end, to);
    }
  };

  Instance whole(OpId reader, TensorId tensor, DeviceId device);
  Instance slice(TensorId tensor, DeviceId device, std::int32_t begin, std::int32_t end);
  Instance resident(TensorId tensor, DeviceId device, std::int32_t begin, std::int32_t end);
  std::size_t cell(TensorId tensor, DeviceId device) const {  // in resident_
    const auto slot = static_cast<std::size_t>(tables_.tensors[tensor].slot);
    return slot * tables_.cluster->device_count() + device.index();
  }
  Instance parameter(TensorId tensor, DeviceId device);

  // Exchanges proper (exchange_steps.cpp): each adds tasks and remembers the instance.
  Instance split(TensorId tensor, const Instance& from, std::int32_t begin, std::int32_t end);
  Instance concat(TensorId tensor, DeviceId device, std::span<const Instance> pieces);
  Instance transfer(TensorId tensor, const Instance& from, DeviceId to);
  Instance send(TensorId tensor, const Instance& from, DeviceId to, const AxisSlice& slice = {});
  Instance sum_at(TensorId tensor, DeviceId root);
  void all_gather(TensorId tensor);
  void all_reduce(TensorId tensor);
  Task communication(TaskKind kind, TensorId tensor) const;
  static void set_slice(Task& task, const AxisSlice& slice);

  // Parts along other axes (exchange_parts.cpp).
  struct PartCopy {
    AxisSlice slice;
    Instance instance;
  };
  struct Parts {
    int axis = -1;  // along which it was made in parts
    std::vector<PartCopy> copies;
  };
  void add_split_homes(TensorId parameter);
  bool is_in_parts(TensorId tensor, int axis) const;
  LayoutId owners(TensorId tensor) const;
  Instance gather(TensorId tensor, DeviceId device);
  Instance join(TensorId tensor, DeviceId device, const AxisSlice& slice);
  void collect_pieces(TensorId tensor, DeviceId device, const AxisSlice& slice);
  Instance piece(TensorId tensor, std::size_t part, DeviceId device, const AxisSlice& slice);
  Instance whole_near(OpId reader, TensorId tensor, DeviceId device);
  Instance cut(TensorId tensor, const Instance& from, const AxisSlice& slice);
  Instance send_slice(TensorId tensor, const Instance& from, DeviceId to, const AxisSlice& slice);
  Instance concat_pieces(TensorId tensor, DeviceId device, const AxisSlice& slice);
  Instance resident_slice(TensorId tensor, DeviceId device, const AxisSlice& slice);
  void list_resident_slice(TensorId tensor, DeviceId device) const;
  const Instance* local_slice(TensorId tensor, DeviceId device, const AxisSlice& slice) const;

  // Collectives of parts (exchange_scatter.cpp).
  struct SliceRead {
    LayoutId layout = -1;  // of the op that reads; -1: it reads no slices along an axis
    int axis = -1;         // of the tensor
    friend bool operator==(const SliceRead&, const SliceRead&) = default;
  };
  SliceRead slice_read_by(OpId op, TensorId tensor) const;
  bool is_scattered(TensorId tensor, const SliceRead& read) const;
  void reduce_scatter(TensorId tensor, const SliceRead& read);
  bool is_gathered_at_home(TensorId parameter);
  Instance all_gather_parts(TensorId parameter, DeviceId device);

  // Buckets (exchange_fusion.cpp).
  struct Bucket {
    std::vector<TensorId> gradients;
    Bytes bytes;
  };
  bool is_fusible(TensorId tensor);
  void list_fusible();
  bool same_members(TensorId a, TensorId b) const;
  void reduce(Bucket& bucket);

  std::int32_t priority_of(TensorId tensor) const {
    return priority_of_.empty() ? 0 : priority_of_[tensor];
  }
  const Instance* local(TensorId tensor, DeviceId device, std::int32_t begin,
                        std::int32_t end) const;
  // What a device has of slices, or of a whole tensor that carries the batch.
  struct Here {
    const Instance* exact = nullptr;     // exactly these samples
    const Instance* covering = nullptr;  // them and more: what the device made, or its first copy
    bool copies = false;                 // it has some, of these samples or others
  };
  Here find(TensorId tensor, DeviceId device, std::int32_t begin, std::int32_t end) const;
  DeviceId nearest(TensorId tensor, LayoutId copies, DeviceId to);
  bool needed_by_owners_only(TensorId tensor);
  bool is_reduced_at_once(TensorId tensor, OpId reader) const {  // not at a server
    return placement_.mode(tables_.tensors[tensor].op) == Mode::ReplicateAllReduce ||
           placement_.mode(reader) == Mode::ReplicateAllReduce || placement_.is_reduced(reader);
  }
  // Do exactly the layout's devices read the whole tensor? Consumers for which `leaves_out` is true
  // do not count.
  template <class Predicate>
  bool needed_by_all_of(const Layout& owners, TensorId tensor, Predicate leaves_out) {
    ++mark_;
    std::size_t needed = 0;
    for (OpId consumer : tables_.graph->consumers(tensor)) {
      if (leaves_out(consumer)) continue;
      for (const Shard& reader : placement_.layout(consumer).shards) {
        if (!owners.has(reader.device)) return false;
        needed += marked_[reader.device] != mark_;
        marked_[reader.device] = mark_;
      }
    }
    return needed == owners.shards.size();
  }
  bool may_reduce_in_place(TensorId tensor) const;
  const Instance& made_at(const Made& made, std::size_t index) const {
    return instances_[static_cast<std::size_t>(made.first) + index];
  }
  Instance remember(TensorId tensor, Instance instance);

  Tables& tables_;
  Placement& placement_;
  Emitter& emitter_;
  Program* program_ = nullptr;
  IdVector<TensorId, Made> made_;
  std::vector<Instance> instances_;
  std::vector<Range> resident_;               // slot x device
  IdVector<DeviceId, std::uint32_t> marked_;  // == mark_: in the set being built
  std::uint32_t mark_ = 0;
  std::vector<DeviceId> members_;  // of the collective being made
  struct CollectiveKey {
    LayoutId layout;
    Collective kind;
    Bytes bytes;
    friend bool operator==(const CollectiveKey&, const CollectiveKey&) = default;
  };
  struct CollectiveHash {
    std::size_t operator()(const CollectiveKey& key) const {
      const auto small =
          static_cast<std::uint64_t>(key.layout) * 8 + static_cast<unsigned>(key.kind);
      return static_cast<std::size_t>(
          (static_cast<std::uint64_t>(key.bytes.value) ^ (small << 40)) * 0x9e3779b97f4a7c15u >> 8);
    }
  };
  std::unordered_map<CollectiveKey, CollectiveCost, CollectiveHash> collective_costs_;
  std::uint32_t generation_ = 0;                  // of the layouts in collective_costs_
  std::vector<Instance> spare_pieces_;            // memory for slices that are put together
  IdVector<TensorId, std::int32_t> priority_of_;  // of the tasks that bring it; empty: all 0
  std::span<const std::int32_t> priorities_;      // by op
  std::unordered_map<TensorId, Parts> parts_;     // of split ops; looked up, never walked
  std::map<std::pair<DeviceId, TensorId>, AxisSlice> resident_slices_;
  std::map<std::pair<DeviceId, TensorId>, Bytes> kept_;     // slices, together
  std::map<std::pair<DeviceId, TensorId>, Bytes> carried_;  // gradients
  std::vector<Instance> pieces_;                            // being put together
  std::vector<TensorId> fusible_;
  std::vector<Bucket> buckets_;
};

}  // namespace strato
