// Writing out functions, branches and loops has limits, which are held here; and its nodes get
// their names here. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>
#include <unordered_set>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {

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

}  // namespace strato::onnx_import
