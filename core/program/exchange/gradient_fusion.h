// Buckets: gradients that the same devices all-reduce travel as one message (Horovod's tensor
// fusion, PyTorch DDP's buckets).
//
// Every gradient is taken once, in the order in which they are made, so a bucket is complete as
// soon as it can be: it depends on its gradients only, becomes ready when the last of them is
// there, and overlaps with the backward pass that goes on. Like the AllReduce of one gradient it
// works in place, on buffers that lie side by side from the start, so nothing is copied. Gradients
// that need anything else (a server, a copy of their own, another reader before the updates, just a
// slice on each device) stay as they are.
#pragma once

#include <vector>

#include "core/program/exchange/collectives.h"
#include "core/program/exchange/copies.h"
#include "core/program/exchange/readers.h"

namespace strato {

class GradientFusion {
 public:
  GradientFusion(const Tables& tables, const Placement& placement, const Copies& copies,
                 Readers& readers, Collectives& collectives)
      : tables_(tables),
        placement_(placement),
        copies_(copies),
        readers_(readers),
        collectives_(collectives) {}

  // All-reduces what waits for the updates in buckets of at most `limit` bytes. Call it when every
  // gradient is made and before the first update.
  void fuse(Bytes limit);

 private:
  struct Bucket {
    std::vector<TensorId> gradients;
    Bytes bytes;
  };
  bool is_fusible(TensorId tensor);
  std::vector<TensorId> fusible_gradients();
  void reduce(Bucket& bucket);

  const Tables& tables_;
  const Placement& placement_;
  const Copies& copies_;
  Readers& readers_;
  Collectives& collectives_;
};

}  // namespace strato
