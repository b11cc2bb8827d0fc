#include "plugins/importers/onnx/scope/expansion.h"

#include <fmt/format.h>

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMaxNodes = 2'000'000;  // after inlining
constexpr int kMaxDepth = 32;                 // of functions and branches
constexpr std::size_t kMostSteps = 500'000;   // of all bodies; a step is about a kilobyte at most

}  // namespace

void Expansion::count(const onnx::NodeProto& node) {
  if (++nodes_ > kMaxNodes)
    refuse(file_, node, "the model has too many ops", "export a smaller model");
}

void Expansion::enter(const onnx::NodeProto& node) {
  if (++depth_ > kMaxDepth) {
    refuse(file_, node, "functions or branches are nested too deeply",
           "inline them in the exporter");
  }
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
  for (const onnx::NodeProto& inner : body) {
    steps += 1 + prefix.size() / kNameBytes + inner.ByteSizeLong() / kNodeBytes +
             static_cast<std::size_t>(inner.output_size()) +
             static_cast<std::size_t>(inner.input_size()) / kInputs;
  }
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

}  // namespace strato::onnx_import
