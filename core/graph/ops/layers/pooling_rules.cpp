#include "core/graph/ops/layers/pooling_rules.h"

#include "core/graph/rules/work_rules.h"

namespace strato {
namespace {

double window_flops(const OpReader& op) {
  return op.elements() * product(op->integers("kernel_shape"));
}

OpRule pooling(std::string_view type, std::vector<Saved> reads) {
  return {.type = type,
          .family = OpFamily::Pooling,
          .shape = shape_pool,
          .flops = window_flops,
          .batch = batch_kept(mixes_all_but_first),
          .gradient = gradient(std::move(reads)),
          .side_outputs = true};
}

OpRule global_pooling(std::string_view type, std::vector<Saved> reads) {
  return {.type = type,
          .family = OpFamily::Pooling,
          .shape = shape_global_pool,
          .flops = per_input_element(1),
          .batch = batch_kept(mixes_all_but_first),
          .gradient = gradient(std::move(reads))};
}

}  // namespace

OpRules pooling_rules() {
  return {
      pooling("AveragePool", {}),
      pooling("MaxPool", {x(0), y(0)}),
      pooling("LpPool", {x(0), y(0)}),
      global_pooling("GlobalAveragePool", {}),
      global_pooling("GlobalMaxPool", {x(0), y(0)}),
      global_pooling("GlobalLpPool", {x(0), y(0)}),
  };
}

}  // namespace strato
