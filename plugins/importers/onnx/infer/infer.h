// Shape inference of one node by libonnx's own rules. Going node by node, with every extent known
// and every shape already folded, leaves nothing symbolic and lets one node fail alone.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

struct InferredOutput {
  std::optional<DataType> type;
  std::optional<Shape> shape;  // -1: an extent that depends on the data
};

struct Inference {
  bool known_type = false;  // libonnx has a rule for the op type
  std::string failure;      // libonnx's words; empty: none
  bool impossible = false;  // by the op's own rule its inputs and attributes do not go together
  std::vector<InferredOutput> outputs;
};

using InputFacts = std::vector<const Facts*>;  // null: left out

// Never throws for a bad node: says so in `failure`.
Inference infer_node(const onnx::NodeProto& node, const InputFacts& inputs,
                     const std::string& domain, int opset);

// Infers nodes that are alike, as most of a deep model are, once. Not thread-safe.
class Inferences {
 public:
  Inference of(const onnx::NodeProto& node, const InputFacts& inputs, const std::string& domain,
               int opset);

 private:
  std::unordered_map<std::string, Inference> known_;  // by all that they follow from
};

}  // namespace strato::onnx_import
