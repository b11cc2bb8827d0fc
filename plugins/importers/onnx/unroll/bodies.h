// Bodies of functions, branches and loops, written out in the place of their node. Include in .cpp
// files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/importers/onnx/scope/expansion.h"
#include "plugins/importers/onnx/scope/node_runner.h"
#include "plugins/importers/onnx/scope/tensors.h"
#include "plugins/importers/onnx/unroll/inline_body.h"

namespace strato::onnx_import {

// Throws InputError about the node.
class Bodies {
 public:
  Bodies(const Model& model, Tensors& tensors, Expansion& expansion, NodeRunner& runner);

  // Writes out the call of one of the model's functions; false: the node is none.
  bool run_function(const onnx::NodeProto& node, const std::string& domain);
  // Writes out one branch in the place of the node.
  void run_branch(const onnx::NodeProto& node, const onnx::GraphProto& branch);
  // Runs nodes in place; adds the names that their tensors get to `names`.
  void run(const onnx::NodeProto& node, const Nodes& body, const std::string& prefix,
           Renaming& names);
  // Adds what every round of a body shares: its initializers and constants. Returns its other
  // nodes.
  Nodes add_shared(const onnx::GraphProto& body, const std::string& prefix, Renaming& names);
  const onnx::GraphProto& body_of(const onnx::NodeProto& node, std::string_view attribute) const;

 private:
  using Results = std::vector<std::pair<std::string, std::string>>;  // name in a body, name outside

  void run_once(const onnx::NodeProto& node, const Nodes& body, Renaming names,
                const Results& results);
  void add_initializers(const onnx::GraphProto& body, const std::string& prefix, Renaming& names);

  const std::string& file_;
  Tensors& tensors_;
  Expansion& expansion_;
  NodeRunner& runner_;
  // By domain, name and overload.
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
};

}  // namespace strato::onnx_import
