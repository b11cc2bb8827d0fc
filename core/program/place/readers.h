// Who reads a tensor, and how much of it: whether one collective brings it to all of them. Whether
// it does depends on the readers alone, not on who asks first. Not thread safe.
#pragma once

#include <cstdint>

#include "core/program/place/placement.h"

namespace strato {

// That a split op reads slices of a tensor along an axis.
struct SliceRead {
  LayoutId layout = -1;  // of the op; -1: it reads no slices
  int axis = -1;         // of the tensor
  friend bool operator==(const SliceRead&, const SliceRead&) = default;
};

class Readers {
 public:
  Readers(const Tables& tables, const Placement& placement)
      : tables_(tables), placement_(placement), marked_(tables.cluster->device_count()) {}

  // Do exactly the owners of the slices or partial sums read the whole tensor? (Shards read slices
  // or partial sums.)
  bool are_owners(TensorId tensor) {
    return are_all_of(placement_.layout(tables_.tensors[tensor].op), tensor,
                      [&](OpId reader) { return placement_.layout(reader).sharded; });
  }
  // Is a parameter that is kept in parts read whole on all devices that keep it, and nowhere else?
  bool are_keepers(TensorId parameter);
  // Do the owners of these partial sums, and nobody else, need the slices that `read` says?
  bool are_scattered(TensorId tensor, const SliceRead& read) const;
  SliceRead slices_read_by(OpId op, TensorId tensor) const;
  // Are partial sums all-reduced for this reader, not summed up on one device?
  bool reduce_at_once(TensorId tensor, OpId reader) const {
    return placement_.decision(tables_.tensors[tensor].op).mode == Mode::ReplicateAllReduce ||
           placement_.decision(reader).mode == Mode::ReplicateAllReduce ||
           placement_.variables().is_reduced(reader);
  }

 private:
  // Readers for which `leaves_out` is true do not count.
  template <class Predicate>
  bool are_all_of(const Layout& owners, TensorId tensor, Predicate leaves_out) {
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

  const Tables& tables_;
  const Placement& placement_;
  IdVector<DeviceId, std::uint32_t> marked_;  // == mark_: in the set being built
  std::uint32_t mark_ = 0;
};

}  // namespace strato
