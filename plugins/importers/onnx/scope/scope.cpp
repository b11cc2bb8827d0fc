#include "plugins/importers/onnx/scope/scope.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_set>
#include <vector>

#include "core/base/error.h"

namespace strato::onnx_import {
namespace {

// By domain, name and overload.
template <class Function>
std::string function_key(const std::string& domain, const std::string& name,
                         const Function& function) {
  return fmt::format("{}:{}:{}", normal_domain(domain), name, overload_of(function));
}

using Producers = std::unordered_map<std::string, int>;

Producers producers_of(const Scope& scope, const Nodes& nodes) {
  Producers producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      const bool fresh = producers.emplace(output, i).second;
      if (fresh && !scope.tensors.exists(output)) continue;
      scope.refuse(nodes[i], fmt::format("makes tensor \"{}\", which exists already", output),
                   "give every op its own output names");
    }
  }
  return producers;
}

// Names that the bodies of control flow read from outside.
void read_by_bodies(const onnx::NodeProto& node, std::vector<std::string>& names) {
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    std::vector<std::string> read;
    std::unordered_set<std::string> own;
    for (const auto& input : attribute.g().input()) own.insert(input.name());
    for (const auto& inner : attribute.g().node()) {
      read.insert(read.end(), inner.input().begin(), inner.input().end());
      own.insert(inner.output().begin(), inner.output().end());
      read_by_bodies(inner, read);
    }
    for (const auto& output : attribute.g().output()) read.push_back(output.name());
    for (std::string& name : read) {
      if (!own.contains(name)) names.push_back(std::move(name));
    }
  }
}

std::vector<int> needed_nodes(const Scope& scope, const onnx::NodeProto& node,
                              const Producers& producers) {
  std::vector<int> needed;
  for (const std::string& input : node.input()) {
    if (input.empty() || scope.tensors.exists(input)) continue;
    const auto producer = producers.find(input);
    if (producer == producers.end()) {
      scope.refuse(node, fmt::format("reads tensor \"{}\", which nothing makes", input),
                   kExportAgain);
    }
    needed.push_back(producer->second);
  }
  std::vector<std::string> inner;
  read_by_bodies(node, inner);
  for (const std::string& name : inner) {
    const auto producer = producers.find(name);
    if (producer != producers.end() && !scope.tensors.exists(name))
      needed.push_back(producer->second);
  }
  return needed;
}

[[noreturn]] void report_cycle(const Nodes& nodes, const std::vector<int>& waiting,
                               const std::string& file) {
  std::string names;
  int shown = 0;
  for (int i = 0; i < nodes.size() && shown < 4; ++i) {
    if (waiting[static_cast<std::size_t>(i)] == 0) continue;
    names += (shown++ ? ", " : "") + label_of(nodes[i]);
  }
  throw InputError(file, names, "wait for each other in a cycle",
                   "remove the cycle; loops must be unrolled");
}

std::vector<const onnx::NodeProto*> in_order(const Scope& scope, const Nodes& nodes) {
  const Producers producers = producers_of(scope, nodes);
  std::vector<int> waiting(static_cast<std::size_t>(nodes.size()), 0);
  std::vector<std::vector<int>> followers(waiting.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const int before : needed_nodes(scope, nodes[i], producers)) {
      ++waiting[static_cast<std::size_t>(i)];
      followers[static_cast<std::size_t>(before)].push_back(i);
    }
    if (waiting[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  std::vector<const onnx::NodeProto*> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(&nodes[next]);
    for (const int follower : followers[static_cast<std::size_t>(next)]) {
      if (--waiting[static_cast<std::size_t>(follower)] == 0) ready.push(follower);
    }
  }
  if (order.size() != waiting.size()) report_cycle(nodes, waiting, scope.model.file);
  return order;
}

}  // namespace

Scope::Scope(const Model& model, const Uses& uses, const Binding& binding)
    : model(model), uses(uses), binding(binding), tensors(model, uses), expansion(model.file) {
  for (const auto& function : model.proto.functions())
    functions_[function_key(function.domain(), function.name(), function)] = &function;
}

const onnx::FunctionProto* Scope::function_of(const onnx::NodeProto& node) const {
  const auto found = functions_.find(function_key(node.domain(), node.op_type(), node));
  return found == functions_.end() ? nullptr : found->second;
}

void Scope::run_all(const Nodes& nodes) {
  for (const onnx::NodeProto* node : in_order(*this, nodes)) run(*node);
}

}  // namespace strato::onnx_import
