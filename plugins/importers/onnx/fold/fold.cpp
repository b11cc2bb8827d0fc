#include "plugins/importers/onnx/fold/fold.h"

#include <onnx/onnx_pb.h>

#include "plugins/importers/onnx/fold/elementwise_rules.h"
#include "plugins/importers/onnx/fold/making_rules.h"
#include "plugins/importers/onnx/fold/picking_rules.h"
#include "plugins/importers/onnx/fold/reduction_rules.h"
#include "plugins/importers/onnx/fold/shape_rules.h"

namespace strato::onnx_import {

std::vector<Value> fold(const onnx::NodeProto& node, const std::vector<const Value*>& inputs) {
  for (const FoldRules* rules : {&elementwise_rules(), &reduction_rules(), &shape_rules(),
                                 &picking_rules(), &making_rules()}) {
    const auto rule = rules->find(node.op_type());
    if (rule == rules->end()) continue;
    std::vector<Value> outputs = rule->second({node, inputs});
    if (outputs.size() < static_cast<std::size_t>(node.output_size())) return {};
    return outputs;
  }
  return {};
}

}  // namespace strato::onnx_import
