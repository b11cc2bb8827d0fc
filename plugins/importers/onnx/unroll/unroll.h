// Nodes of which no op is left in the graph: calls of functions, decided branches, loops, which are
// written out round by round, and ops on lists of tensors. A list is known while the file is read,
// and so is each place in it that an op asks for.
#pragma once

#include <onnx/onnx_pb.h>

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

// False: the node runs no body. Throws InputError about a node that data decide, and about one that
// does not fit its body.
bool run_control_flow(Scope& scope, const onnx::NodeProto& node);

// False: it is no op on a list. Throws InputError about a node that asks for a place that is not
// there or depends on data.
bool run_list_op(Scope& scope, const onnx::NodeProto& node);

}  // namespace strato::onnx_import
