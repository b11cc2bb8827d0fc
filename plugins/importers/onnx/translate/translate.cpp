#include "plugins/importers/onnx/translate/translate.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/ops/catalogue.h"
#include "plugins/importers/onnx/scope/scope.h"
#include "plugins/importers/onnx/translate/batch_adjustment.h"
#include "plugins/importers/onnx/translate/known_results.h"
#include "plugins/importers/onnx/translate/output_types.h"
#include "plugins/importers/onnx/unroll/lists.h"
#include "plugins/importers/onnx/unroll/loops.h"
#include "plugins/importers/onnx/unroll/write_out.h"

namespace strato::onnx_import {
namespace {

// Ops of com.microsoft that the catalogue knows go by their bare names, and those of ONNX that are
// something else under the same name by another.
std::string graph_type(const std::string& domain, const std::string& type) {
  if (domain.empty()) return type;
  if (domain == "com.microsoft" && type == "Attention") return "ProjectedAttention";
  if (domain == "com.microsoft" && find_rule(type) != nullptr) return type;
  return domain + "::" + type;
}

class Translator final : public Scope {
 public:
  // `original`: the translation at the file's own batch, if that is another one.
  Translator(const Model& model, const Uses& uses, const Binding& binding,
             const Translation* original)
      : Scope(model, uses, binding) {
    if (original != nullptr) batch_.emplace(*this, *original);
  }

  Translation translate() && {
    const onnx::GraphProto& graph = model.proto.graph();
    for (const BoundInput& input : binding.inputs) tensors.add_input(input);
    for (const auto& tensor : graph.initializer()) tensors.add_initializer(tensor, tensor.name());
    for (const auto& sparse : graph.sparse_initializer()) tensors.add_sparse(sparse);
    run_all(graph.node());
    return std::move(tensors).finish(graph, std::move(ops_));
  }

  void run(const onnx::NodeProto& node) override {
    expansion.count(node);
    const std::string domain = normal_domain(node.domain());
    if (run_function(*this, node)) return;
    if (domain.empty() && (run_control_flow(*this, node) || run_list_op(*this, node))) return;
    Entries inputs = tensors.inputs_of(node);
    if (domain.empty()) {
      if (add_known(*this, node, inputs)) return;
      if (batch_) batch_->adjust(node, inputs);
      if (add_folded(*this, node, inputs)) return;
    }
    emit(node, domain, inputs);
  }

 private:
  void emit(const onnx::NodeProto& node, const std::string& domain, const Entries& inputs) {
    if (node.op_type().empty() || node.output_size() == 0)
      refuse(node, "has no type or no outputs", kExportAgain);
    TranslatedOp op{expansion.name_of(node),
                    graph_type(domain, node.op_type()),
                    inputs,
                    {},
                    attributes_of(node)};
    const std::vector<Facts> outputs = types_of(node, domain, op);
    for (int i = 0; i < node.output_size(); ++i) {
      op.outputs.push_back(&tensors.add(node.output(i), TensorRole::Activation,
                                        outputs[static_cast<std::size_t>(i)]));
      if (batch_) batch_->check(node, *op.outputs.back());
    }
    ops_.push_back(std::move(op));
  }

  std::vector<Facts> types_of(const onnx::NodeProto& node, const std::string& domain,
                              const TranslatedOp& op) const {
    InputFacts facts;
    for (const Entry* input : op.inputs)
      facts.push_back(input != nullptr ? &input->facts : nullptr);
    const auto version = model.opsets.find(domain);
    const int opset = version == model.opsets.end() ? 1 : version->second;
    const Inference inference = infer_node(node, facts, domain, opset);
    if (batch_ && !inference.failure.empty()) batch_->refuse_node(node, inference.failure);
    return output_types(*this, node, op, inference);
  }

  std::optional<BatchAdjustment> batch_;
  std::vector<TranslatedOp> ops_;
};

}  // namespace

Translation translate_at(const Model& model, const Uses& uses, const Binding& binding,
                         const ImportOptions& options) {
  if (binding.file_batch == 0 || binding.file_batch == binding.batch)
    return Translator(model, uses, binding, nullptr).translate();
  ImportOptions as_stored = options;
  as_stored.batch.reset();
  const Binding stored = bind_inputs(model, uses, as_stored);
  const Translation original = Translator(model, uses, stored, nullptr).translate();
  return Translator(model, uses, binding, &original).translate();
}

}  // namespace strato::onnx_import
