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

#include "core/program/exchange/copies.h"
#include "core/program/exchange/exchange_tasks.h"
#include "core/program/exchange/readers.h"

namespace strato {

class CollectiveExchange : ExchangeBase {
 public:
  explicit CollectiveExchange(const ExchangeBase& base) : ExchangeBase(base) {}

  // Slices to the whole, and partial sums to the total, on all owners.
  void all_gather(TensorId tensor);
  void all_reduce(TensorId tensor);
  // The same for several gradients of the same owners as one message of so many bytes, in place.
  void all_reduce(std::span<const TensorId> gradients, Bytes bytes);
  // Partial sums to one slice of the total for each part of the op that reads it so.
  void reduce_scatter(TensorId tensor, const SliceRead& read);
  // All-reduces what waits for the updates in buckets of at most `limit` bytes. Call it when every
  // gradient is made and before the first update.
  void fuse(Bytes limit);
  // A parameter that is kept in parts to all of it, on all devices that keep it. By shard: its
  // part.
  void all_gather_parts(TensorId parameter, std::span<const Instance> parts);

 private:
  struct Collected {  // a collective that is about to be added
    Task task;
    const CollectiveCost& cost;
    std::span<const Shard> members;
    TaskId id;
  };
  Collected collective(Collective kind, TaskKind task, TensorId tensor, LayoutId layout,
                       Bytes bytes);
  struct Bucket {
    std::vector<TensorId> gradients;
    Bytes bytes;
  };
  bool is_fusible(TensorId tensor);
  std::vector<TensorId> fusible_gradients();
  void reduce(Bucket& bucket);
  void add_total(const Collected& what, TensorId tensor, std::size_t member, BufferId buffer);
};

}  // namespace strato
