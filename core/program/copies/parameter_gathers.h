// When parameters of which rows have a share each are gathered: once, or from ZeRO's stage 3 on in
// each pass (StateSharding). Of each pass on its own as PyTorch's FSDP does it (Zhao et al. 2023,
// "PyTorch FSDP: experiences on scaling fully sharded data parallel", section 3.3: resharding, and
// the rate limiter): a pass gathers what it reads just before, and what it gathered is dropped with
// its last reader there. Not thread safe.
#pragma once

#include <utility>
#include <vector>

#include "core/program/copies/copies.h"

namespace strato {

// Of the strategy that is placed: does any pass gather parameters anew?
bool gathers_each_pass(const Tables& tables, const Placement& placement);

class ParameterGathers {
 public:
  ParameterGathers(const Tables& tables, Placement& placement, Emitter& emitter, Copies& copies)
      : tables_(tables), placement_(placement), emitter_(emitter), copies_(copies) {}
  void start();
  // The op is lowered next.
  void enter(OpId op) {
    if (of_each_pass_) begin(op);
  }
  // The op reads a parameter that is kept in parts. What another pass gathered of it is not there.
  void read(TensorId parameter);
  // The task that is committed next gathers it for the op on these devices. One of each pass waits
  // until each of them has computed the last but one op that it gathered for. So what is gathered
  // ahead is what one op reads.
  void limit_ahead(TensorId parameter, std::span<const Shard> devices);

 private:
  bool is_of_each_pass(TensorId parameter) const {
    return of_each_pass_ &&
           placement_.decision(tables_.tensors[parameter].op).roles.states.stage >= 3;
  }
  void begin(OpId op);
  void find_computed();

  const Tables& tables_;
  Placement& placement_;
  Emitter& emitter_;
  Copies& copies_;
  bool of_each_pass_ = false;            // is any parameter gathered so?
  std::int32_t pass_ = 0;                // 2 x micro-batch, and 1 for the backward pass
  IdVector<TensorId, std::int32_t> of_;  // the pass that gathered it; -1: none
  OpId op_;
  bool gathers_ = false;                              // for op_
  TaskId first_;                                      // that was added for op_
  IdVector<DeviceId, std::vector<TaskId>> computed_;  // by ops that were gathered for
};

}  // namespace strato
