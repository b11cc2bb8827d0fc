// Copies of a function's or a branch's nodes under names that fit the place where they are put.
// Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {

using Renaming = std::unordered_map<std::string, std::string>;

// The body's nodes; tensors in `names` are renamed by it, those made inside get `prefix` (and are
// added to `names`), all others keep their names.
Nodes renamed(const Nodes& body, const std::string& prefix, Renaming& names);

// The name outside of a tensor of the body.
std::string new_name(const Renaming& names, const std::string& inside);

// Replaces attributes that refer to the function's own by those of the call, or leaves them out.
void bind_attributes(Nodes& body, const onnx::NodeProto& call);

}  // namespace strato::onnx_import
