// What all have at hand who translate a model's nodes. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/read_model.h"
#include "plugins/importers/onnx/scope/expansion.h"
#include "plugins/importers/onnx/scope/tensors.h"

namespace strato::onnx_import {

class Scope {
 public:
  Scope(const Model& model, const Uses& uses, const Binding& binding);
  virtual ~Scope() = default;

  virtual void run(const onnx::NodeProto& node) = 0;  // when its inputs exist
  // Runs nodes in topological order: in file order among those that are ready. Throws InputError
  // for a tensor with two producers or none, and for a cycle.
  void run_all(const Nodes& nodes);

  // The model's function that the node calls; null: it calls none.
  const onnx::FunctionProto* function_of(const onnx::NodeProto& node) const;
  [[noreturn]] void refuse(const onnx::NodeProto& node, const std::string& problem,
                           const std::string& remedy) const {
    onnx_import::refuse(model.file, node, problem, remedy);
  }

  const Model& model;
  const Uses& uses;
  const Binding& binding;
  Tensors tensors;
  Expansion expansion;

 private:
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;  // by function_key()
};

}  // namespace strato::onnx_import
