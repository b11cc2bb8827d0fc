// Lowering's exchanges: the Split, Concat, Sum, Transfer and collective tasks that bring every
// tensor where it is needed (TAG 4.3.1). What they brought is among the copies from then on, so
// that two readers share one. Not thread safe.
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
//   fused beforehand (CollectiveExchange::fuse);
// - partial sums of which exactly their owners need just slices along one axis, each another one,
//   are brought there by one ReduceScatter where they would be all-reduced otherwise; a parameter
//   that is kept in parts and read whole by exactly the devices that keep them, by one AllGather at
//   the start of the step (collectives.h);
// - every task of an exchange has the priority of the first of the tensor's readers in the
//   execution order: it is in nobody else's interest. What sends an updated parameter back has its
//   update's;
// - a part of an op that is split along another axis than the batch reads slices along its inputs'
//   axes: a Split where the tensor stands, then a Transfer; what such an op
//   makes stands in parts, which other readers gather by Transfers and a Concat, and a reader that
//   is split along the same axis takes as they are;
// - what was made, or is kept, on a mesh comes from there (mesh_exchange.h);
// - an AllReduce works in place, unless a partial sum that it would overwrite has another reader;
// - parameters are at home where their update op's group is placed, and are fetched from the
//   nearest home at the start of the step elsewhere; all other tensors without a producer are
//   resident where they are read;
// - a stale parameter (VariableSync::staleness) is copied on its homes when the step begins, and
//   read as it was then: its new value may come at any time.
#pragma once

#include "core/program/exchange/collectives.h"
#include "core/program/exchange/mesh_exchange.h"

namespace strato {

class Exchange : ExchangeBase {
 public:
  Exchange(const ExchangeBase& base, CollectiveExchange& collectives, MeshExchange& meshes)
      : ExchangeBase(base), collectives_(collectives), meshes_(meshes) {}

  // What shard `index` of `op`'s layout reads of an input; adds the tasks that bring it there.
  Instance input(OpId op, TensorId tensor, std::size_t index);
  // The same of part `index` of an op that is split; `axis` of the input is the one along which the
  // part needs its slice only, -1: it needs all.
  Instance part_input(OpId op, TensorId tensor, std::size_t index, int axis);

 private:
  Instance whole(OpId reader, TensorId tensor, DeviceId device);
  Instance whole_near(OpId reader, TensorId tensor, DeviceId device);
  Instance slice(TensorId tensor, DeviceId device, const AxisRange& samples);
  // From here on the device has the range of a tensor that no op produces.
  Instance resident(TensorId tensor, DeviceId device, const AxisRange& range);
  Instance parameter(TensorId tensor, DeviceId device);
  Instance transfer(TensorId tensor, const Instance& from, DeviceId to);
  Instance sum_at(TensorId tensor, DeviceId root);

  // Slices along other axes than the batch: what ops that are split so read and make (FastT 5.2,
  // Algorithm 2, lines 16 to 30: a split node at a producer, a concatenation at a consumer). What
  // is made in parts, or kept so, goes as it is to a reader that is split along the same axis; any
  // other gathers it. Of what stands whole somewhere a slice is cut out there (Split), and sent.
  //
  // Is it made or kept in parts along this axis?
  bool is_divided(TensorId tensor, int axis) const;
  bool is_kept(TensorId parameter, DeviceId device, const AxisRange& range) const;
  // All of what is made or kept in parts, by Transfers and a Concat; and a range of it along the
  // axis of the parts, or of what is made in slices of the batch.
  Instance gather(TensorId tensor, DeviceId device);
  Instance join(TensorId tensor, DeviceId device, const AxisRange& range);
  // What its owners hold in slices or in parts to all of it on each of them, by one AllGather.
  void gather_on_owners(TensorId tensor);
  Instance piece(TensorId tensor, std::size_t part, DeviceId device, const AxisRange& range);
  Instance part(TensorId tensor, std::size_t part, int axis);
  Instance cut(TensorId tensor, const Instance& from, PartId part);
  // The same, on the device.
  Instance take(TensorId tensor, const Instance& from, DeviceId device);

  CollectiveExchange& collectives_;
  MeshExchange& meshes_;
};

}  // namespace strato
