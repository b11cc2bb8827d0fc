#include "plugins/importers/onnx/unroll/decisions.h"

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {

std::optional<std::int64_t> Decisions::find(const onnx::NodeProto& node) const {
  if (binding_.decisions.empty()) return std::nullopt;
  const auto given = binding_.decisions.find(name_in_file(node));
  return given == binding_.decisions.end() ? std::nullopt : std::optional(given->second);
}

std::string Decisions::remedy(const onnx::NodeProto& node, const std::string& input) const {
  const Entry* entry = tensors_.find(input);
  const bool lone = entry != nullptr && entry->role == TensorRole::Input && entry->batch_axis < 0 &&
                    element_count(entry->facts.shape) == 1 && !is_floating(entry->facts.type);
  const bool branches = node.op_type() == "If";
  if (lone && branches) return "choose with --set-dim " + entry->name + "=1 or =0";
  if (lone) return "give it with --set-dim " + entry->name + "=N";
  const std::string name = name_in_file(node);
  if (name.empty()) return kExportAgain;
  return branches ? "choose with --set-dim " + name + "=1 (then) or =0 (else)"
                  : "give its rounds with --set-dim " + name + "=N";
}

// A node that was written out of bodies has their names before its own.
std::string Decisions::name_in_file(const onnx::NodeProto& node) const {
  const std::string here = decision_name(node);
  std::string longest;
  for (const std::string& name : binding_.control_flow) {
    const bool same = here == name || here.ends_with("/" + name);
    if (same && name.size() > longest.size()) longest = name;
  }
  return longest;
}

}  // namespace strato::onnx_import
