// Nodes of ONNX's own, made here, as if they stood in the file. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/importers/onnx/scope/expansion.h"
#include "plugins/importers/onnx/scope/node_runner.h"
#include "plugins/importers/onnx/scope/tensors.h"

namespace strato::onnx_import {

class MadeNodes {
 public:
  MadeNodes(const Model& model, Tensors& tensors, Expansion& expansion, NodeRunner& runner)
      : model_(model), tensors_(tensors), expansion_(expansion), runner_(runner) {}

  // Named as its first output. `list`: the axes of Squeeze and Unsqueeze, the sizes of Split.
  void run(const std::string& type, const std::vector<std::string>& inputs,
           const std::vector<std::string>& outputs, std::optional<std::int64_t> axis = {},
           const std::vector<std::int64_t>& list = {});
  // Joins tensors along a new axis. `of` declares one of them, for the case that there is none.
  void stack(const onnx::NodeProto& node, const onnx::ValueInfoProto& of,
             const std::vector<std::string>& tensors, std::int64_t axis, const std::string& name);

 private:
  const Model& model_;
  Tensors& tensors_;
  Expansion& expansion_;
  NodeRunner& runner_;
};

}  // namespace strato::onnx_import
