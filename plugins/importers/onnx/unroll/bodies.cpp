#include "plugins/importers/onnx/unroll/bodies.h"

#include <unordered_set>

#include "plugins/importers/onnx/read/newer_fields.h"

namespace strato::onnx_import {
namespace {

std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
  return domain + ":" + name + ":" + overload;
}

}  // namespace

Bodies::Bodies(const Model& model, Tensors& tensors, Expansion& expansion, NodeRunner& runner)
    : file_(model.file), tensors_(tensors), expansion_(expansion), runner_(runner) {
  for (const auto& function : model.proto.functions()) {
    functions_[function_key(normal_domain(function.domain()), function.name(),
                            overload_of(function))] = &function;
  }
}

bool Bodies::run_function(const onnx::NodeProto& node, const std::string& domain) {
  const auto found = functions_.find(function_key(domain, node.op_type(), overload_of(node)));
  if (found == functions_.end()) return false;
  const onnx::FunctionProto& function = *found->second;
  Renaming names;
  for (int i = 0; i < function.input_size(); ++i) names[function.input(i)] = input_of(node, i);
  Results results;
  for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
    if (!node.output(i).empty()) results.emplace_back(function.output(i), node.output(i));
  }
  constexpr std::size_t kDefaultBytes = 512;  // a step's worth
  expansion_.charge(node, default_bytes(function) / kDefaultBytes);
  Nodes body = function.node();
  bind_attributes(body, with_defaults(node, function));
  run_once(node, body, std::move(names), results);
  return true;
}

void Bodies::run_branch(const onnx::NodeProto& node, const onnx::GraphProto& branch) {
  Renaming names;
  add_initializers(branch, expansion_.numbered(node), names);
  Results results;
  for (int i = 0; i < branch.output_size() && i < node.output_size(); ++i) {
    if (!node.output(i).empty()) results.emplace_back(branch.output(i).name(), node.output(i));
  }
  run_once(node, branch.node(), std::move(names), results);
}

void Bodies::run(const onnx::NodeProto& node, const Nodes& body, const std::string& prefix,
                 Renaming& names) {
  expansion_.enter(node);
  expansion_.charge_body(node, body, prefix);
  runner_.run_all(renamed(body, prefix, names));
  expansion_.leave();
}

// Results that the body makes get the names that they have outside.
void Bodies::run_once(const onnx::NodeProto& node, const Nodes& body, Renaming names,
                      const Results& results) {
  std::unordered_set<std::string> made;
  for (const auto& inner : body) made.insert(inner.output().begin(), inner.output().end());
  for (const auto& [inside, outside] : results) {
    if (made.contains(inside)) names.try_emplace(inside, outside);
  }
  run(node, body, expansion_.prefix_for(node), names);
  for (const auto& [inside, outside] : results)
    tensors_.give_name(node, new_name(names, inside), outside);
}

Nodes Bodies::add_shared(const onnx::GraphProto& body, const std::string& prefix, Renaming& names) {
  add_initializers(body, prefix, names);
  Nodes rest;
  for (const onnx::NodeProto& inner : body.node()) {
    const bool constant = inner.op_type() == "Constant" && inner.domain().empty() &&
                          inner.output_size() == 1 && !inner.output(0).empty();
    if (!constant) {
      *rest.Add() = inner;
      continue;
    }
    onnx::NodeProto once = inner;
    once.set_output(0, prefix + "/" + inner.output(0));
    names[inner.output(0)] = once.output(0);
    runner_.run(once);
  }
  return rest;
}

void Bodies::add_initializers(const onnx::GraphProto& body, const std::string& prefix,
                              Renaming& names) {
  for (const auto& tensor : body.initializer()) {
    names[tensor.name()] = prefix + "/" + tensor.name();
    tensors_.add_initializer(tensor, names[tensor.name()]);
  }
}

const onnx::GraphProto& Bodies::body_of(const onnx::NodeProto& node,
                                        std::string_view attribute) const {
  const onnx::AttributeProto* body = find_attribute(node, attribute);
  if (body == nullptr || !body->has_g())
    refuse(file_, node, "lacks its " + std::string(attribute), kExportAgain);
  return body->g();
}

}  // namespace strato::onnx_import
