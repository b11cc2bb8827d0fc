#include "core/graph/build/annotate.h"

#include "core/graph/build/batch_axis.h"
#include "core/graph/ops/catalogue.h"

namespace strato {

void annotate(IdVector<OpId, Op>& ops, IdVector<TensorId, Tensor>& tensors, std::int64_t batch,
              const std::string& file) {
  analyse_batch_axis(ops, tensors, batch);
  for (Op& op : ops) {
    if (op.phase == Phase::Forward && rule_of(op.type).family == OpFamily::Loss) {
      op.phase = Phase::Loss;
    }
    describe(op, ops, tensors, file);
  }
}

}  // namespace strato
