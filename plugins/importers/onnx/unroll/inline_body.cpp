#include "plugins/importers/onnx/unroll/inline_body.h"

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

void rename(std::string& name, const Renaming& names) {
  if (const auto found = names.find(name); found != names.end()) name = found->second;
}

// Bodies inside the body read its tensors by their old names.
void rename_in_bodies(onnx::NodeProto& node, const Renaming& names) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    for (auto& inner : *attribute.mutable_g()->mutable_node()) {
      for (std::string& input : *inner.mutable_input()) rename(input, names);
      rename_in_bodies(inner, names);
    }
    for (auto& output : *attribute.mutable_g()->mutable_output())
      rename(*output.mutable_name(), names);
  }
}

}  // namespace

Nodes renamed(const Nodes& body, const std::string& prefix, Renaming& names) {
  for (const auto& node : body) {
    for (const std::string& output : node.output()) {
      if (!output.empty()) names.try_emplace(output, prefix + "/" + output);
    }
  }
  Nodes copy = body;
  for (auto& node : copy) {
    if (!node.name().empty()) node.set_name(prefix + "/" + node.name());
    for (std::string& input : *node.mutable_input()) rename(input, names);
    for (std::string& output : *node.mutable_output()) rename(output, names);
    rename_in_bodies(node, names);
  }
  return copy;
}

std::string new_name(const Renaming& names, const std::string& inside) {
  const auto found = names.find(inside);
  return found == names.end() ? inside : found->second;
}

void bind_attributes(Nodes& body, const onnx::NodeProto& call) {
  for (auto& node : body) {
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> bound;
    for (const auto& attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *bound.Add() = attribute;
      } else if (const auto* given = find_attribute(call, attribute.ref_attr_name())) {
        *bound.Add() = *given;
        bound.rbegin()->set_name(attribute.name());
      }
    }
    *node.mutable_attribute() = bound;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) bind_attributes(*attribute.mutable_g()->mutable_node(), call);
    }
  }
}

}  // namespace strato::onnx_import
