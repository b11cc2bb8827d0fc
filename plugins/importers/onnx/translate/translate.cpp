#include "plugins/importers/onnx/translate/translate.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/ops/catalogue.h"
#include "plugins/importers/onnx/infer/infer.h"
#include "plugins/importers/onnx/read/attributes.h"
#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/scope/expansion.h"
#include "plugins/importers/onnx/scope/node_runner.h"
#include "plugins/importers/onnx/scope/order.h"
#include "plugins/importers/onnx/scope/tensors.h"
#include "plugins/importers/onnx/translate/batch_adjustment.h"
#include "plugins/importers/onnx/translate/known_results.h"
#include "plugins/importers/onnx/translate/output_types.h"
#include "plugins/importers/onnx/unroll/bodies.h"
#include "plugins/importers/onnx/unroll/lists.h"
#include "plugins/importers/onnx/unroll/loops.h"
#include "plugins/importers/onnx/unroll/made_nodes.h"

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

class Translator final : public NodeRunner {
 public:
  Translator(const Model& model, const Uses& uses, const Binding& binding,
             const Translation* original)
      : model_(model),
        binding_(binding),
        tensors_(model, uses),
        expansion_(model.file),
        made_(model, tensors_, expansion_, *this),
        bodies_(model, tensors_, expansion_, *this),
        loops_(model, binding, tensors_, expansion_, bodies_, made_),
        lists_(model.file, tensors_, made_),
        known_(model, uses, expansion_, tensors_) {
    if (original != nullptr) batch_.emplace(model.file, binding, *original, tensors_);
  }

  Translation translate() && {
    const onnx::GraphProto& graph = model_.proto.graph();
    for (const BoundInput& input : binding_.inputs) tensors_.add_input(input);
    for (const auto& tensor : graph.initializer()) tensors_.add_initializer(tensor, tensor.name());
    for (const auto& sparse : graph.sparse_initializer()) tensors_.add_sparse(sparse);
    run_all(graph.node());
    return std::move(tensors_).finish(graph, std::move(ops_));
  }

  void run_all(const Nodes& nodes) override {
    const auto exists = [this](const std::string& name) { return tensors_.exists(name); };
    for (const onnx::NodeProto* node : in_order(nodes, exists, model_.file)) run(*node);
  }

  void run(const onnx::NodeProto& node) override {
    expansion_.count(node);
    const std::string domain = normal_domain(node.domain());
    if (bodies_.run_function(node, domain)) return;
    if (domain.empty() && (loops_.run(node) || lists_.run(node))) return;
    Entries inputs = tensors_.inputs_of(node);
    if (domain.empty()) {
      if (known_.add(node, inputs)) return;
      if (batch_) batch_->adjust(node, inputs);
      if (known_.fold(node, inputs)) return;
    }
    emit(node, domain, inputs);
  }

 private:
  void emit(const onnx::NodeProto& node, const std::string& domain, const Entries& inputs) {
    if (node.op_type().empty() || node.output_size() == 0)
      refuse(model_.file, node, "has no type or no outputs", kExportAgain);
    TranslatedOp op{expansion_.name_of(node),
                    graph_type(domain, node.op_type()),
                    inputs,
                    {},
                    attributes_of(node)};
    const std::vector<Facts> outputs = types_of(node, domain, op);
    for (int i = 0; i < node.output_size(); ++i) {
      op.outputs.push_back(&tensors_.add(node.output(i), TensorRole::Activation,
                                         outputs[static_cast<std::size_t>(i)]));
      if (batch_) batch_->check(node, *op.outputs.back());
    }
    ops_.push_back(std::move(op));
  }

  std::vector<Facts> types_of(const onnx::NodeProto& node, const std::string& domain,
                              const TranslatedOp& op) const {
    std::vector<const Facts*> facts;
    for (const Entry* input : op.inputs)
      facts.push_back(input != nullptr ? &input->facts : nullptr);
    const auto version = model_.opsets.find(domain);
    const int opset = version == model_.opsets.end() ? 1 : version->second;
    const Inference inference = infer_node(node, facts, domain, opset);
    if (batch_ && !inference.failure.empty()) batch_->refuse_node(node, inference.failure);
    return OutputTypes(model_, binding_, node, op).resolve(inference);
  }

  const Model& model_;
  const Binding& binding_;
  Tensors tensors_;
  Expansion expansion_;
  MadeNodes made_;
  Bodies bodies_;
  Loops loops_;
  Lists lists_;
  KnownResults known_;
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
