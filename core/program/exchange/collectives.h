// The collectives of whole tensors and of parts.
//
// Those of parts are what ZeRO needs (Rajbhandari, Rasley, Ruwase, He 2020, "ZeRO: memory
// optimizations toward training trillion parameter models", sections 5.2, 5.3 and 7): replicas
// whose updates are split keep a parameter and its optimizer state in parts, and need just a slice
// of the summed up gradient each (ReduceScatter), and all of the parameter (AllGather). Not thread
// safe.
#pragma once

#include <span>

#include "core/program/exchange/copies.h"
#include "core/program/exchange/exchange_tasks.h"
#include "core/program/exchange/readers.h"

namespace strato {

class Collectives {
 public:
  Collectives(const Tables& tables, const Placement& placement, Emitter& emitter, Copies& copies,
              ExchangeTasks& tasks, Readers& readers)
      : tables_(tables),
        placement_(placement),
        emitter_(emitter),
        copies_(copies),
        tasks_(tasks),
        readers_(readers) {}

  // Slices to the whole, and partial sums to the total, on all owners.
  void all_gather(TensorId tensor);
  void all_reduce(TensorId tensor);
  // The same for several gradients of the same owners as one message of so many bytes, in place.
  void all_reduce(std::span<const TensorId> gradients, Bytes bytes);
  // Partial sums to one slice of the total for each part of the op that reads it so.
  void reduce_scatter(TensorId tensor, const SliceRead& read);
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
  void add_total(const Collected& what, TensorId tensor, std::size_t member, BufferId buffer);

  const Tables& tables_;
  const Placement& placement_;
  Emitter& emitter_;
  Copies& copies_;
  ExchangeTasks& tasks_;
  Readers& readers_;
};

}  // namespace strato
