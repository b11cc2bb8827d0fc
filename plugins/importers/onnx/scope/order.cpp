#include "plugins/importers/onnx/scope/order.h"

#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"

namespace strato::onnx_import {
namespace {

using Producers = std::unordered_map<std::string, int>;

Producers producers_of(const Nodes& nodes, const IsAvailable& available, const std::string& file) {
  Producers producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) {
      if (output.empty()) continue;
      const bool fresh = producers.emplace(output, i).second;
      if (fresh && !available(output)) continue;
      throw InputError(file, label_of(nodes[i]),
                       "makes tensor \"" + output + "\", which exists already",
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

std::vector<int> needed_nodes(const onnx::NodeProto& node, const Producers& producers,
                              const IsAvailable& available, const std::string& file) {
  std::vector<int> needed;
  for (const std::string& input : node.input()) {
    if (input.empty() || available(input)) continue;
    const auto producer = producers.find(input);
    if (producer == producers.end()) {
      throw InputError(file, label_of(node), "reads tensor \"" + input + "\", which nothing makes",
                       "export the model again");
    }
    needed.push_back(producer->second);
  }
  std::vector<std::string> inner;
  read_by_bodies(node, inner);
  for (const std::string& name : inner) {
    const auto producer = producers.find(name);
    if (producer != producers.end() && !available(name)) needed.push_back(producer->second);
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

}  // namespace

std::vector<const onnx::NodeProto*> in_order(const Nodes& nodes, const IsAvailable& available,
                                             const std::string& file) {
  const Producers producers = producers_of(nodes, available, file);
  std::vector<int> waiting(static_cast<std::size_t>(nodes.size()), 0);
  std::vector<std::vector<int>> followers(waiting.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const int before : needed_nodes(nodes[i], producers, available, file)) {
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
  if (order.size() != waiting.size()) report_cycle(nodes, waiting, file);
  return order;
}

}  // namespace strato::onnx_import
