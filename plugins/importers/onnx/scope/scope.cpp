#include "plugins/importers/onnx/scope/scope.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <vector>

#include "core/base/at.h"
#include "core/base/error.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMaxNodes = 2'000'000;  // after inlining
constexpr int kMaxDepth = 32;                 // of functions and branches
constexpr std::size_t kMostSteps = 500'000;   // of all bodies; a step is about a kilobyte at most

// By domain, name and overload, of a function or of a call.
std::string function_key(const std::string& domain, const std::string& name,
                         const google::protobuf::Message& function_or_call) {
  return fmt::format("{}:{}:{}", normal_domain(domain), name, overload_of(function_or_call));
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
    for (const auto& tensor : attribute.g().initializer()) own.insert(tensor.name());
    for (const auto& inner : attribute.g().node()) {
      read.insert(read.end(), inner.input().begin(), inner.input().end());
      own.insert(inner.output().begin(), inner.output().end());
      read_by_bodies(inner, read);
    }
    for (const auto& output : attribute.g().output()) read.push_back(output.name());
    for (std::string& name : read)
      if (!own.contains(name)) names.push_back(std::move(name));
  }
}

std::vector<int> needed_nodes(const Scope& scope, const onnx::NodeProto& node,
                              const Producers& producers) {
  std::vector<int> needed;
  for (const std::string& input : node.input()) {
    if (input.empty() || scope.tensors.exists(input)) continue;
    const auto producer = producers.find(input);
    if (producer == producers.end())
      scope.refuse(node, fmt::format("reads tensor \"{}\", which nothing makes", input),
                   kExportAgain);
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
    if (waiting[at(i)] == 0) continue;
    names += (shown++ ? ", " : "") + label_of(nodes[i]);
  }
  throw InputError(file, names, "wait for each other in a cycle",
                   "remove the cycle; loops must be unrolled");
}

std::vector<const onnx::NodeProto*> in_order(const Scope& scope, const Nodes& nodes) {
  const Producers producers = producers_of(scope, nodes);
  std::vector<int> waiting(at(nodes.size()), 0);
  std::vector<std::vector<int>> followers(waiting.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const int before : needed_nodes(scope, nodes[i], producers)) {
      ++waiting[at(i)];
      followers[at(before)].push_back(i);
    }
    if (waiting[at(i)] == 0) ready.push(i);
  }
  std::vector<const onnx::NodeProto*> order;
  while (!ready.empty()) {
    const int next = ready.top();
    ready.pop();
    order.push_back(&nodes[next]);
    for (const int follower : followers[at(next)])
      if (--waiting[at(follower)] == 0) ready.push(follower);
  }
  if (order.size() != waiting.size()) report_cycle(nodes, waiting, scope.model.file);
  return order;
}

}  // namespace

void Expansion::count(const onnx::NodeProto& node) {
  if (++nodes_ > kMaxNodes)
    refuse(file_, node, "the model has too many ops", "export a smaller model");
}

void Expansion::enter(const onnx::NodeProto& node) {
  if (++depth_ > kMaxDepth)
    refuse(file_, node, "functions or branches are nested too deeply",
           "inline them in the exporter");
}

void Expansion::charge(const onnx::NodeProto& node, std::size_t steps) {
  steps_ += steps;
  if (steps_ <= kMostSteps) return;
  refuse(file_, node, "its rounds, branches and functions make too many ops when written out",
         "export the model with shorter loops");
}

// Tensors count, their names, what nodes hold, and the names that are looked up for each round.
void Expansion::charge_body(const onnx::NodeProto& node, const Nodes& body,
                            const std::string& prefix) {
  constexpr std::size_t kNameBytes = 128, kNodeBytes = 512, kInputs = 8;
  std::size_t steps = 1 + prefix.size() / kNameBytes;
  for (const onnx::NodeProto& inner : body)
    steps += 1 + prefix.size() / kNameBytes + inner.ByteSizeLong() / kNodeBytes +
             at(inner.output_size()) + at(inner.input_size()) / kInputs;
  charge(node, steps);
}

std::string Expansion::name_of(const onnx::NodeProto& node) const {
  return node.name().empty() ? numbered(node) : node.name();
}

std::string Expansion::numbered(const onnx::NodeProto& node) const {
  return fmt::format("{}_{}", node.op_type(), nodes_ - 1);
}

std::string Expansion::prefix_for(const onnx::NodeProto& node) {
  std::string prefix = name_of(node);
  if (!prefixes_.insert(prefix).second) prefix += fmt::format("_{}", nodes_);
  return prefix;
}

Scope::Scope(const Model& model, const Uses& uses, const Contents& contents, const Binding& binding)
    : model(model),
      uses(uses),
      contents(contents),
      binding(binding),
      tensors(model, uses),
      expansion(model.file) {
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
