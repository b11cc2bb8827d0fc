// What all have at hand who translate a model's nodes: its tensors so far, and what writing out
// functions, branches and loops may take. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/read_model.h"
#include "plugins/importers/onnx/scope/tensors.h"

namespace strato::onnx_import {

// Writing nodes out has limits, which are held here; and they get their names here.
// Throws InputError about the node that goes beyond a limit.
class Expansion {
 public:
  explicit Expansion(const std::string& file) : file_(file) {}

  void count(const onnx::NodeProto& node);  // each node, once, when its turn comes
  // Enters and leaves the body of a function, a branch or a round.
  void enter(const onnx::NodeProto& node);
  void leave() { --depth_; }
  bool inside() const { return depth_ > 0; }
  // Notes steps, so that the work ends before it is more than a machine holds.
  void charge(const onnx::NodeProto& node, std::size_t steps);
  void charge_body(const onnx::NodeProto& node, const Nodes& body, const std::string& prefix);

  // The node's name, or one of its type and number.
  std::string name_of(const onnx::NodeProto& node) const;
  std::string numbered(const onnx::NodeProto& node) const;  // of type and number
  // Returns a prefix for the names inside a body; op names may repeat, prefixes do not.
  std::string prefix_for(const onnx::NodeProto& node);

 private:
  std::string file_;
  std::unordered_set<std::string> prefixes_;
  std::size_t nodes_ = 0;
  std::size_t steps_ = 0;
  int depth_ = 0;
};

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
