// Nodes that are written out where the file has them in short: bodies of functions, branches and
// loops in the place of their node, and nodes of ONNX's own that are made here as if they stood in
// the file. All of these throw InputError about the node.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

using Names = std::vector<std::string>;
using Renaming = std::unordered_map<std::string, std::string>;  // name in a body -> name outside
const std::string& new_name(const Renaming& names, const std::string& inside);

// Writes out the call of one of the model's functions; false: the node is none.
bool run_function(Scope& scope, const onnx::NodeProto& node);
void run_branch(Scope& scope, const onnx::NodeProto& node, const onnx::GraphProto& branch);
// Runs a body's nodes in place: tensors in `names` are renamed by it, those made inside get
// `prefix` (and are added to `names`), all others keep their names.
void run_body(Scope& scope, const onnx::NodeProto& node, const Nodes& body,
              const std::string& prefix, Renaming& names);
// Adds what every round of a body shares: its initializers and constants. Returns its other nodes.
Nodes add_shared(Scope& scope, const onnx::GraphProto& body, const std::string& prefix,
                 Renaming& names);
const onnx::GraphProto& body_of(const Scope& scope, const onnx::NodeProto& node,
                                std::string_view attribute);

// Runs a node that is named as its first output. `list`: the axes of Squeeze and Unsqueeze, the
// sizes of Split.
void run_made(Scope& scope, const std::string& type, const Names& inputs, const Names& outputs,
              std::optional<std::int64_t> axis = {}, const std::vector<std::int64_t>& list = {});
// Joins tensors along a new axis. `of` declares one of them, for the case that there is none.
void stack(Scope& scope, const onnx::NodeProto& node, const onnx::ValueInfoProto& of,
           const Names& tensors, std::int64_t axis, const std::string& name);

}  // namespace strato::onnx_import
