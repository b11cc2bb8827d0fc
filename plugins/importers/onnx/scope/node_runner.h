// Whoever writes nodes out has them translated by this. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {

class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  virtual void run(const onnx::NodeProto& node) = 0;  // when its inputs exist
  virtual void run_all(const Nodes& nodes) = 0;       // in topological order
};

}  // namespace strato::onnx_import
