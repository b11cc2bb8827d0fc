// Options may say which branch an If takes and how often a Loop runs. Include in .cpp files only.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>

#include "plugins/importers/onnx/bind/bind.h"
#include "plugins/importers/onnx/scope/tensors.h"

namespace strato::onnx_import {

class Decisions {
 public:
  Decisions(const Binding& binding, const Tensors& tensors)
      : binding_(binding), tensors_(tensors) {}

  // Returns what an option says of the node; nothing: none does.
  std::optional<std::int64_t> find(const onnx::NodeProto& node) const;
  // Says what a person can do about a branch or a loop that an input decides.
  std::string remedy(const onnx::NodeProto& node, const std::string& input) const;

 private:
  std::string name_in_file(const onnx::NodeProto& node) const;

  const Binding& binding_;
  const Tensors& tensors_;
};

}  // namespace strato::onnx_import
