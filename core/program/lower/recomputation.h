// Computes ops of the forward pass again for the backward pass that reads what they made
// (Strategy::recomputed), so that nothing keeps it in between (internal to core/program).
//
// - An op is computed again once a micro-batch, when the first op of the backward pass on its
//   devices is lowered that needs its output, directly or through others that are computed again.
//   It waits for the gradients that this op reads, so that it does not run long before.
// - Who reads an output on other devices (another stage of a pipeline) reads what was made first:
//   that has been sent there anyway. So do ops of the forward pass.
// - What exchanges brought for it in the forward pass is brought again only where it was made
//   again.
#pragma once

#include <span>
#include <vector>

#include "core/program/lower/op_lowering.h"

namespace strato {

// Of one lowering of the strategy that is placed, to which it refers.
class Recomputation {
 public:
  // Without ops, lower() does what OpLowering's does.
  Recomputation(OpLowering& ops, std::span<const OpId> recomputed);
  // The next op of the step, with what has to be computed again before it.
  void lower(OpId op) {
    if (!is_again_.empty()) compute_again_for(op);
    ops_.lower(op);
  }

 private:
  bool may_be_again(OpId op) const;
  void compute_again_for(OpId reader);
  // What is computed again before the reader, ascending.
  std::vector<OpId> needed_by(OpId reader);
  void find_gradients(OpId reader);

  OpLowering& ops_;
  IdVector<OpId, char> is_again_;  // empty: no op is
  std::vector<char> done_;         // micro-batch x op
  Again::TasksByDevice gradients_;
};

}  // namespace strato
