#include "plugins/importers/onnx/unroll/write_out.h"

#include <fmt/format.h>
#include <onnx/defs/attr_proto_util.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {
namespace {

constexpr int kListsAreInputs = 13;         // op set
constexpr std::size_t kDefaultBytes = 512;  // of a function's attributes: a step's worth

// Names that mean another tensor in the body than outside of it.
Names own_among(const Renaming& names, const onnx::GraphProto& body) {
  Names own;
  const auto look_at = [&](const std::string& name) {
    if (names.contains(name)) own.push_back(name);
  };
  for (const auto& input : body.input()) look_at(input.name());
  for (const auto& tensor : body.initializer()) look_at(tensor.name());
  for (const auto& node : body.node()) std::ranges::for_each(node.output(), look_at);
  return own;
}

void rename_in_body(onnx::GraphProto& body, const Renaming& names);

// Bodies inside the body read its tensors by their old names.
void rename_in_bodies(onnx::NodeProto& node, const Renaming& names) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    const Names own = own_among(names, attribute.g());
    if (own.empty()) {
      rename_in_body(*attribute.mutable_g(), names);
      continue;
    }
    Renaming others = names;
    for (const std::string& name : own) others.erase(name);
    rename_in_body(*attribute.mutable_g(), others);
  }
}

void rename_in_body(onnx::GraphProto& body, const Renaming& names) {
  for (auto& node : *body.mutable_node()) {
    for (std::string& input : *node.mutable_input()) input = new_name(names, input);
    rename_in_bodies(node, names);
  }
  for (auto& output : *body.mutable_output()) output.set_name(new_name(names, output.name()));
}

// Options call loops and branches by name; what has none goes by its first result, as in the file.
bool runs_bodies(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(),
                             [](const auto& attribute) { return attribute.has_g(); });
}

Nodes renamed(const Nodes& body, const std::string& prefix, Renaming& names) {
  for (const auto& node : body) {
    for (const std::string& output : node.output())
      if (!output.empty()) names.try_emplace(output, fmt::format("{}/{}", prefix, output));
  }
  Nodes copy = body;
  for (auto& node : copy) {
    if (!node.name().empty() || runs_bodies(node)) node.set_name(prefix + "/" + given_name(node));
    for (std::string& input : *node.mutable_input()) input = new_name(names, input);
    for (std::string& output : *node.mutable_output()) output = new_name(names, output);
    rename_in_bodies(node, names);
  }
  return copy;
}

// Replaces attributes that refer to the function's own by those of the call, or leaves them out.
void bind_attributes(Nodes& body, const onnx::NodeProto& call) {
  for (auto& node : body) {
    const auto attributes = node.attribute();
    node.clear_attribute();
    for (const auto& attribute : attributes) {
      const std::string& own = attribute.ref_attr_name();
      const onnx::AttributeProto* given = own.empty() ? &attribute : find_attribute(call, own);
      if (given == nullptr) continue;
      onnx::AttributeProto& bound = *node.add_attribute() = *given;
      bound.set_name(attribute.name());
      if (bound.has_g()) bind_attributes(*bound.mutable_g()->mutable_node(), call);
    }
  }
}

void add_initializers(Scope& scope, const onnx::GraphProto& body, const std::string& prefix,
                      Renaming& names) {
  for (const auto& tensor : body.initializer()) {
    names[tensor.name()] = prefix + "/" + tensor.name();
    scope.tensors.add_initializer(tensor, names[tensor.name()]);
  }
}

// Results that the body makes get the names that they have outside: the node's.
void run_once(Scope& scope, const onnx::NodeProto& node, const Nodes& body, Renaming names,
              const Names& made_inside) {
  std::vector<std::pair<std::string, std::string>> results;  // name in the body, name outside
  for (int i = 0; i < std::min(static_cast<int>(made_inside.size()), node.output_size()); ++i)
    if (!node.output(i).empty())
      results.emplace_back(made_inside[static_cast<std::size_t>(i)], node.output(i));
  std::unordered_set<std::string> made;
  for (const auto& inner : body) made.insert(inner.output().begin(), inner.output().end());
  for (const auto& [inside, outside] : results)
    if (made.contains(inside)) names.try_emplace(inside, outside);
  run_body(scope, node, body, scope.expansion.prefix_for(node), names);
  for (const auto& [inside, outside] : results)
    scope.tensors.give_name(node, new_name(names, inside), outside);
}

// One without elements, of the shape that a declaration gives its parts.
Facts empty_stack(const onnx::TypeProto_Tensor& part) {
  Shape shape = {0};
  for (const auto& dim : part.shape().dim())
    shape.push_back(std::max<std::int64_t>(dim.dim_value(), 1));
  return {data_type_of(part.elem_type()).value_or(DataType::F32), std::move(shape)};
}

}  // namespace

const std::string& new_name(const Renaming& names, const std::string& inside) {
  const auto found = names.find(inside);
  return found == names.end() ? inside : found->second;
}

bool run_function(Scope& scope, const onnx::NodeProto& node) {
  const onnx::FunctionProto* function = scope.function_of(node);
  if (function == nullptr) return false;
  Renaming names;
  for (int i = 0; i < function->input_size(); ++i) names[function->input(i)] = input_of(node, i);
  scope.expansion.charge(node, default_bytes(*function) / kDefaultBytes);
  Nodes body = function->node();
  bind_attributes(body, with_defaults(node, *function));
  run_once(scope, node, body, std::move(names),
           {function->output().begin(), function->output().end()});
  return true;
}

void run_branch(Scope& scope, const onnx::NodeProto& node, const onnx::GraphProto& branch) {
  Renaming names;
  add_initializers(scope, branch, scope.expansion.numbered(node), names);
  Names results;
  for (const auto& output : branch.output()) results.push_back(output.name());
  run_once(scope, node, branch.node(), std::move(names), results);
}

void run_body(Scope& scope, const onnx::NodeProto& node, const Nodes& body,
              const std::string& prefix, Renaming& names) {
  scope.expansion.enter(node);
  scope.expansion.charge_body(node, body, prefix);
  scope.run_all(renamed(body, prefix, names));
  scope.expansion.leave();
}

Nodes add_shared(Scope& scope, const onnx::GraphProto& body, const std::string& prefix,
                 Renaming& names) {
  add_initializers(scope, body, prefix, names);
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
    scope.run(once);
  }
  return rest;
}

const onnx::GraphProto& body_of(const Scope& scope, const onnx::NodeProto& node,
                                std::string_view attribute) {
  const onnx::AttributeProto* body = find_attribute(node, attribute);
  if (body == nullptr || !body->has_g())
    scope.refuse(node, fmt::format("lacks its {}", attribute), kExportAgain);
  return body->g();
}

void run_made(Scope& scope, const std::string& type, const Names& inputs, const Names& outputs,
              std::optional<std::int64_t> axis, const std::vector<std::int64_t>& list) {
  onnx::NodeProto node;
  node.set_name(outputs[0]);
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  if (axis) *node.add_attribute() = onnx::MakeAttribute("axis", *axis);
  if (!list.empty() && scope.model.opsets.at("") >= kListsAreInputs) {
    node.add_input(outputs[0] + "/list");
    scope.tensors.add_value(outputs[0] + "/list", integers(list));
  } else if (!list.empty()) {
    *node.add_attribute() = onnx::MakeAttribute(type == "Split" ? "split" : "axes", list);
  }
  scope.expansion.charge(node, outputs.size() + inputs.size() / 8);
  scope.run(node);
}

void stack(Scope& scope, const onnx::NodeProto& node, const onnx::ValueInfoProto& of,
           const Names& tensors, std::int64_t axis, const std::string& name) {
  if (tensors.empty()) {
    scope.tensors.add(name, TensorRole::Constant, empty_stack(of.type().tensor_type()));
    return;
  }
  Names slices;
  for (const std::string& tensor : tensors) {
    if (scope.tensors.find_list(tensor) != nullptr)
      scope.refuse(node, "stacks lists of tensors", kWithoutLists);
    slices.push_back(fmt::format("{}/{}", name, slices.size()));
    run_made(scope, "Unsqueeze", {tensor}, {slices.back()}, {}, {axis});
  }
  run_made(scope, "Concat", slices, {name}, axis);
}

}  // namespace strato::onnx_import
