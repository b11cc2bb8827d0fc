// When what the forward pass made on a mesh in slices, or of a part of the positions, is gathered:
// in each pass that reads all of it. Between the two each device has its own slice alone, as
// Megatron-LM's sequence parallelism keeps it (Korthikanti et al. 2022, section 4.2.2) and ring
// attention its keys and values. The backward pass gathers it while it computes what comes before.
// Not thread safe.
#pragma once

#include <vector>

#include "core/program/copies/copies.h"

namespace strato {

class ActivationGathers {
 public:
  ActivationGathers(const Tables& tables, const Placement& placement, Emitter& emitter,
                    Copies& copies)
      : tables_(tables), placement_(placement), emitter_(emitter), copies_(copies) {}
  void start();
  // The op is lowered next.
  void enter(OpId op) {
    if (are_any_) begin(op);
  }
  // It reads the tensor on the mesh that made it. What another pass gathered of it is not there.
  void read(TensorId tensor);
  // The task that is committed next gathers it on these devices: in the backward pass once each has
  // computed the last but one op before.
  void limit_ahead(TensorId tensor, std::span<const Shard> devices);

 private:
  bool is_of_each_pass(TensorId tensor) const;
  void begin(OpId op);
  void find_computed();

  struct Computed {  // the last tasks of a pass on a device
    std::int32_t pass = -1;
    TaskId last, before;
  };

  const Tables& tables_;
  const Placement& placement_;
  Emitter& emitter_;
  Copies& copies_;
  bool are_any_ = false;                 // meshes with columns, or positions in parts
  std::int32_t pass_ = 0;                // 2 x micro-batch, and 1 for the backward pass
  TaskId first_;                         // that was added for the op
  IdVector<TensorId, std::int32_t> of_;  // the pass that read it last; -1: none
  IdVector<DeviceId, Computed> computed_;
};

}  // namespace strato
