// The collectives of whole tensors and of parts.
//
// Those of parts are what ZeRO needs (Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory
// optimizations toward training trillion parameter models", sections 5.2, 5.3 and 7): replicas
// whose updates are split keep a parameter and its optimizer state in parts, and need just a slice
// of the summed up gradient each (ReduceScatter), and all of the parameter (AllGather). Not thread
// safe.
//
// Buckets are gradients that the same devices all-reduce travel as one message (Horovod's tensor
// fusion, PyTorch DDP's buckets).
//
// Every gradient is taken once, in the order in which they are made, so a bucket is complete as
// soon as it can be: it depends on its gradients only, becomes ready when the last of them is
// there, and overlaps with the backward pass that goes on. Like the AllReduce of one gradient it
// works in place, on buffers that lie side by side from the start, so nothing is copied. Gradients
// that need anything else (a server, a copy of their own, another reader before the updates, just a
// slice on each device) stay as they are.
#pragma once

#include <span>
#include <vector>

#include "core/program/copies/exchange_tasks.h"

namespace strato {

class CollectiveExchange : ExchangeBase {
 public:
  explicit CollectiveExchange(const ExchangeBase& base) : ExchangeBase(base) {}

  // What the owners hold, each its slice or its part, to the whole on all of them.
  void all_gather(TensorId tensor, std::span<const Instance> held);
  // Partial sums to the total, on all owners; of several gradients of the same owners as one
  // message.
  void all_reduce(std::span<const TensorId> gradients);
  // Partial sums to one slice of the total for each part of the op that reads it so.
  void reduce_scatter(TensorId tensor, const SliceRead& read);
  // All-reduces what waits for the updates in buckets of at most `limit` bytes. Call it when every
  // gradient is made and before the first update.
  void fuse(Bytes limit);

 private:
  struct Collected {  // a collective that is about to be added
    Task task;
    const CollectiveCost& cost;
    std::span<const Shard> members;
    TaskId id;
  };
  Collected collective(TaskKind kind, TensorId tensor, Bytes bytes);  // of the tensor's owners
  // Does nobody read the partial sums themselves?
  bool allow_sum_in_place(TensorId tensor) const;
  bool is_fusible(TensorId tensor);
  std::vector<TensorId> fusible_gradients();
};

}  // namespace strato
