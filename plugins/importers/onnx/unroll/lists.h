// Ops on lists of tensors: none is left in the graph. A list is known while the file is read, and
// so is each place in it that an op asks for. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>

#include "plugins/importers/onnx/scope/tensors.h"
#include "plugins/importers/onnx/unroll/made_nodes.h"

namespace strato::onnx_import {

// Throws InputError about a node that asks for a place that is not there or depends on data.
class Lists {
 public:
  Lists(const std::string& file, Tensors& tensors, MadeNodes& made)
      : file_(file), tensors_(tensors), made_(made) {}

  bool run(const onnx::NodeProto& node);  // false: it is no op on a list

 private:
  std::size_t position(const onnx::NodeProto& node, int input, std::size_t size,
                       std::size_t places) const;
  void split_to_sequence(const onnx::NodeProto& node);
  void concat_sequence(const onnx::NodeProto& node);

  const std::string& file_;
  Tensors& tensors_;
  MadeNodes& made_;
};

}  // namespace strato::onnx_import
