// Nodes that run bodies: decided branches are taken, loops written out round by round. Include in
// .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// False: the node runs no body. Throws InputError about a node that data decide, and about one that
// does not fit its body.
bool run_control_flow(Scope& scope, const onnx::NodeProto& node);

}  // namespace strato::onnx_import
