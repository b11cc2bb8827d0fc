// Nodes whose results are known while the file is read: constants, questions about shapes, weights
// that are made or handed on, and whatever folds. No op of the graph is left of them. Include in
// .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include "plugins/importers/onnx/scope/expansion.h"
#include "plugins/importers/onnx/scope/tensors.h"

namespace strato::onnx_import {

// Handles nodes of ONNX's own op set. Throws InputError about a constant that is none.
class KnownResults {
 public:
  KnownResults(const Model& model, const Uses& uses, const Expansion& expansion, Tensors& tensors)
      : model_(model), uses_(uses), expansion_(expansion), tensors_(tensors) {}

  // Adds a constant, a weight or what is asked about a shape; false: the node is none of them.
  bool add(const onnx::NodeProto& node, const Entries& inputs);
  // Adds what the node makes of known inputs; false: not all are known, or it does not fold.
  bool fold(const onnx::NodeProto& node, const Entries& inputs);

 private:
  bool add_constant(const onnx::NodeProto& node);
  void add_constant_tensor(const onnx::NodeProto& node, const onnx::TensorProto& tensor);
  bool add_shape(const onnx::NodeProto& node, const Entries& inputs);
  bool add_copied_weight(const onnx::NodeProto& node, const Entries& inputs);
  bool add_filled_weight(const onnx::NodeProto& node, const Entries& inputs);

  const Model& model_;
  const Uses& uses_;
  const Expansion& expansion_;
  Tensors& tensors_;
};

}  // namespace strato::onnx_import
