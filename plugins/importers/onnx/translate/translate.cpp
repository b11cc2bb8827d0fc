#include "plugins/importers/onnx/translate/translate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/extent_expression.h"
#include "core/graph/ops/catalogue.h"
#include "core/graph/rules/op_rule.h"
#include "plugins/importers/onnx/infer/infer.h"
#include "plugins/importers/onnx/translate/batch_adjustment.h"
#include "plugins/importers/onnx/unroll/unroll.h"
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

// ---- The types of an op's outputs: from libonnx's inference, else the catalogue, else what the
// file declares, else (for op types that nobody knows) the first input's.

bool complete(const InferredOutput& output) {
  return output.type && output.shape &&
         std::ranges::none_of(*output.shape, [](std::int64_t e) { return e < 0; });
}

// Dimensions that options bound and that some inputs have and others have not, as two that clash:
// '"width" = 4, "depth" = 5'. Empty: there are no two of them.
std::string clashing(const Scope& scope, const TranslatedOp& op) {
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, extent] : scope.binding.dimensions) {
    const auto has = [extent = extent](const Entry* input) {
      return input != nullptr &&
             std::ranges::find(input->facts.shape, extent) != input->facts.shape.end();
    };
    const auto found = std::ranges::count_if(op.inputs, has);
    if (extent < 2 || found == 0 || found == std::ssize(op.inputs)) continue;
    text += fmt::format("{}\"{}\" = {}", text.empty() ? "" : ", ", name, extent);
    ++count;
  }
  return count > 1 ? text : std::string();
}

std::shared_ptr<const std::string> guess_behind(const TranslatedOp& op) {
  for (const Entry* input : op.inputs)
    if (input != nullptr && input->guess != nullptr) return input->guess;
  return nullptr;
}

[[noreturn]] void cannot_be_told(const Scope& scope, const onnx::NodeProto& node,
                                 const TranslatedOp& op, const std::string& why) {
  std::string shapes;
  for (const Entry* input : op.inputs) {
    if (shapes.size() > 200) break;
    if (input != nullptr)
      shapes +=
          fmt::format("{}[{}]", shapes.empty() ? "" : ", ", fmt::join(input->facts.shape, ", "));
  }
  const std::string problem = fmt::format("its result's shape cannot be told from inputs of {}{}",
                                          shapes.empty() ? "no known shape" : shapes,
                                          why.empty() ? "" : fmt::format(" ({})", why));
  if (const auto guess = guess_behind(op))
    scope.refuse(node, problem,
                 fmt::format("one of them follows from {}, whose type is not known and whose "
                             "result's shape is a guess; export the model with inferred shapes",
                             *guess));
  const std::string dimensions = clashing(scope, op);
  if (!dimensions.empty())
    scope.refuse(node, problem,
                 fmt::format("of {}, give some other extents that fit together", dimensions));
  scope.refuse(node, problem, "check the op's inputs, or export the model with inferred shapes");
}

std::vector<Facts> from_catalogue(const TranslatedOp& translated) {
  std::vector<Facts> result;
  if (find_rule(translated.op.type) == nullptr) return result;
  Op op = translated.op;
  IdVector<TensorId, Tensor> tensors;
  for (const Entry* input : translated.inputs) {
    op.inputs.push_back(input != nullptr ? tensors.next_id() : TensorId());
    if (input == nullptr) continue;
    Tensor tensor;
    tensor.type = input->facts.type;
    tensor.role = input->role;
    tensor.shape = input->facts.shape;
    if (input->facts.value)
      tensor.data = std::make_shared<std::string>(little_endian(*input->facts.value));
    tensors.push_back(std::move(tensor));
  }
  for (TensorType& type : infer_output_shapes(op, tensors)) {
    if (!element_count(type.shape)) break;
    result.push_back({type.type, std::move(type.shape)});
  }
  return result;
}

// Of a symbol, or of an expression of symbols, where all are bound.
std::optional<std::int64_t> bound_extent(const Binding& binding, const std::string& symbol) {
  const auto value_of = [&binding](const std::string& name) {
    const auto found = binding.dimensions.find(name);
    return found == binding.dimensions.end() ? std::nullopt : std::optional(found->second);
  };
  const std::optional<std::int64_t> extent = value_of(symbol);
  return extent ? extent : evaluated_extent(symbol, value_of);
}

// A shape that the exporter wrote into the file, with its symbols bound.
std::optional<Facts> declared(const Scope& scope, const std::string& name) {
  const Binding& binding = scope.binding;
  const auto find = [&name](const auto& infos) -> const onnx::TypeProto_Tensor* {
    for (const auto& info : infos)
      if (info.name() == name && info.type().has_tensor_type()) return &info.type().tensor_type();
    return nullptr;
  };
  const onnx::TypeProto_Tensor* type = find(scope.model.proto.graph().value_info());
  if (type == nullptr) type = find(scope.model.proto.graph().output());
  if (type == nullptr || !type->has_shape() || !data_type_of(type->elem_type()))
    return std::nullopt;
  Facts facts{*data_type_of(type->elem_type()), {}};
  for (const auto& dim : type->shape().dim()) {
    const std::optional<std::int64_t> extent =
        dim.has_dim_value() ? dim.dim_value() : bound_extent(binding, dim.dim_param());
    if (!extent) return std::nullopt;
    facts.shape.push_back(*extent);
  }
  const bool moved = binding.file_batch > 0 && binding.file_batch != binding.batch;
  if (moved && !facts.shape.empty() && facts.shape[0] == binding.file_batch)
    facts.shape[0] = binding.batch;
  if (!element_count(facts.shape)) return std::nullopt;
  return facts;
}

// The first input that is data, else the first one.
Facts like_first_input(const TranslatedOp& op) {
  const Entry* first = nullptr;
  for (const Entry* input : op.inputs) {
    if (input == nullptr) continue;
    const bool data = input->role != TensorRole::Parameter && input->role != TensorRole::Constant;
    if (data || first == nullptr) first = input;
    if (data) break;
  }
  return first != nullptr ? Facts{first->facts.type, first->facts.shape} : Facts();
}

// Takes the most that an extent can be where it depends on the data (how many elements are not
// zero, say).
Facts guessed(const TranslatedOp& op, const InferredOutput& inferred) {
  const Facts first = like_first_input(op);
  Facts facts{inferred.type.value_or(first.type), inferred.shape.value_or(first.shape)};
  const bool same_rank = facts.shape.size() == first.shape.size();
  for (std::size_t axis = 0; axis < facts.shape.size(); ++axis) {
    if (facts.shape[axis] >= 0) continue;
    facts.shape[axis] = same_rank ? first.shape[axis] : element_count(first.shape).value_or(1);
  }
  return facts;
}

// Normalizations of op sets in which libonnx tells nothing of them. Behind the result there are
// statistics: as many as scales, or one for each of what is normalised.
std::optional<Facts> normalized(const TranslatedOp& op, std::size_t output) {
  const bool of_batch = op.op.type == "BatchNormalization";
  const bool of_layer = op.op.type.ends_with("LayerNormalization");
  if ((!of_batch && !of_layer) || op.inputs.size() < 2 || !op.inputs[0] || !op.inputs[1])
    return std::nullopt;
  if (output == 0) return Facts{op.inputs[0]->facts.type, op.inputs[0]->facts.shape};
  if (of_batch) return Facts{op.inputs[1]->facts.type, op.inputs[1]->facts.shape};
  Facts facts{DataType::F32, op.inputs[0]->facts.shape};
  const auto rank = std::ssize(facts.shape);
  const std::int64_t given = op.op.integer("axis", -1), axis = given < 0 ? given + rank : given;
  for (std::int64_t i = std::clamp<std::int64_t>(axis, 0, rank); i < rank; ++i)
    facts.shape[static_cast<std::size_t>(i)] = 1;
  return facts;
}

// One for each output of the node, which becomes `op`. Throws InputError when a known op's cannot
// be told.
std::vector<Facts> output_types(const Scope& scope, const onnx::NodeProto& node,
                                const TranslatedOp& op, const Inference& inference) {
  std::vector<Facts> result;
  const auto count = static_cast<std::size_t>(node.output_size());
  if (inference.impossible) cannot_be_told(scope, node, op, inference.failure);
  const bool all_told = inference.outputs.size() >= count;
  for (std::size_t i = 0; all_told && i < count; ++i) {
    if (complete(inference.outputs[i])) {
      result.push_back({*inference.outputs[i].type, *inference.outputs[i].shape});
    } else if (node.output(static_cast<int>(i)).empty()) {
      result.push_back(like_first_input(op));  // nobody reads it
    } else {
      break;
    }
  }
  if (result.size() == count) return result;
  const std::vector<Facts> catalogue = from_catalogue(op);
  const bool unknown = !inference.known_type && find_rule(op.op.type) == nullptr;
  for (std::size_t i = result.size(); i < count; ++i) {
    const std::optional<Facts> stated = declared(scope, node.output(static_cast<int>(i)));
    if (i < catalogue.size()) {
      result.push_back(catalogue[i]);
    } else if (stated) {
      result.push_back(*stated);
    } else if (const std::optional<Facts> told = normalized(op, i)) {
      result.push_back(*told);
    } else if (unknown) {
      result.push_back(like_first_input(op));
    } else if (inference.failure.empty() && i < inference.outputs.size()) {
      result.push_back(guessed(op, inference.outputs[i]));
    } else {
      cannot_be_told(scope, node, op, inference.failure);
    }
  }
  return result;
}

// ----

class Translator final : public Scope {
 public:
  // `original`: the translation at the file's own batch, if that is another one.
  Translator(const Model& model, const Uses& uses, const Contents& contents, const Binding& binding,
             const Translation* original)
      : Scope(model, uses, contents, binding) {
    if (original != nullptr) batch_.emplace(*this, *original);
  }

  Translation translate() && {
    const onnx::GraphProto& graph = model.proto.graph();
    for (const BoundInput& input : binding.inputs) tensors.add_input(input);
    for (const auto& tensor : graph.initializer())
      if (!add_copy(tensor.name()))
        tensors.add_initializer(tensor, tensor.name(), !contents.is_table(tensor.name()));
    for (const auto& sparse : graph.sparse_initializer()) tensors.add_sparse(sparse);
    run_all(graph.node());
    Translation result = std::move(tensors).finish(graph, std::move(ops_));
    result.batch = binding.batch;
    return result;
  }

  void run(const onnx::NodeProto& node) override {
    expansion.count(node);
    const std::string domain = normal_domain(node.domain());
    if (run_function(*this, node)) return;
    if (domain.empty() && (run_control_flow(*this, node) || run_list_op(*this, node))) return;
    Entries inputs = tensors.inputs_of(node);
    if (domain.empty() && joins_lone_numbers(node, inputs)) return run(of_lists(node, inputs));
    if (domain.empty()) {
      if (add_known(*this, node, inputs)) return;
      if (batch_) batch_->adjust(node, inputs);
      if (add_folded(*this, node, inputs)) return;
    }
    emit(node, domain, inputs);
  }

 private:
  // Exporters that know of no rank 0 join lone numbers as if they were lists of one.
  static bool joins_lone_numbers(const onnx::NodeProto& node, const Entries& inputs) {
    const auto lone = [](const Entry* input) {
      return input != nullptr && input->facts.shape.empty();
    };
    return node.op_type() == "Concat" && std::ranges::any_of(inputs, lone);
  }

  onnx::NodeProto of_lists(const onnx::NodeProto& node, const Entries& inputs) {
    onnx::NodeProto lists = node;
    for (int i = 0; i < node.input_size(); ++i) {
      const Entry* input = inputs[static_cast<std::size_t>(i)];
      if (input == nullptr || !input->facts.shape.empty()) continue;
      lists.set_input(i, fmt::format("{}/list_{}", node.output(0), i));
      run_made(*this, "Unsqueeze", {node.input(i)}, {lists.input(i)}, {}, {0});
    }
    return lists;
  }

  // An initializer that holds another one's elements, as they are or transposed; false: it is none.
  bool add_copy(const std::string& name) {
    const Contents::Copy* copy = contents.copy(name);
    Entry* original = copy != nullptr ? tensors.find(copy->of) : nullptr;
    if (original == nullptr || original->role != TensorRole::Parameter || tensors.exists(name))
      return false;
    onnx::NodeProto node;
    node.set_name(name);
    if (!copy->turned) {
      tensors.give_name(node, copy->of, name);
      return true;
    }
    const Shape& shape = original->facts.shape;
    Entry& turned =
        tensors.add(name, TensorRole::Activation, {original->facts.type, {shape[1], shape[0]}});
    ops_.push_back({{}, {original}, {&turned}});
    ops_.back().op.name = name;
    ops_.back().op.type = "Transpose";
    ops_.back().op.attributes = {{"perm", std::vector<std::int64_t>{1, 0}}};
    return true;
  }

  void emit(const onnx::NodeProto& node, const std::string& domain, const Entries& inputs) {
    if (node.op_type().empty() || node.output_size() == 0)
      refuse(node, "has no type or no outputs", kExportAgain);
    TranslatedOp translated{{}, inputs, {}};
    translated.op.name = expansion.name_of(node);
    translated.op.type = graph_type(domain, node.op_type());
    translated.op.attributes = attributes_of(node);
    const std::vector<Facts> outputs = types_of(node, domain, translated);
    std::shared_ptr<const std::string> guess = guess_behind(translated);
    if (guess == nullptr && is_guess(node, translated, outputs))
      guess = std::make_shared<const std::string>(label_of(node));
    for (int i = 0; i < node.output_size(); ++i) {
      translated.outputs.push_back(&tensors.add(node.output(i), TensorRole::Activation,
                                                outputs[static_cast<std::size_t>(i)]));
      translated.outputs.back()->guess = guess;
      if (batch_) batch_->check(node, *translated.outputs.back());
    }
    ops_.push_back(std::move(translated));
  }

  // No rule knows the type, and no shape is in the file.
  bool is_guess(const onnx::NodeProto& node, const TranslatedOp& op,
                const std::vector<Facts>& outputs) const {
    if (find_rule(op.op.type) != nullptr || outputs.empty() ||
        outputs[0].shape != like_first_input(op).shape || declared(*this, node.output(0)))
      return false;
    const auto version = model.opsets.find(normal_domain(node.domain()));
    return !infer_node(node, {}, normal_domain(node.domain()),
                       version == model.opsets.end() ? 1 : version->second)
                .known_type;
  }

  std::vector<Facts> types_of(const onnx::NodeProto& node, const std::string& domain,
                              const TranslatedOp& op) {
    InputFacts facts;
    for (const Entry* input : op.inputs)
      facts.push_back(input != nullptr ? &input->facts : nullptr);
    const auto version = model.opsets.find(domain);
    const int opset = version == model.opsets.end() ? 1 : version->second;
    const Inference inference = inferences_.of(node, facts, domain, opset);
    if (batch_ && !inference.failure.empty()) batch_->refuse_node(node, inference.failure);
    return output_types(*this, node, op, inference);
  }

  std::optional<BatchAdjustment> batch_;
  Inferences inferences_;
  std::vector<TranslatedOp> ops_;
};

}  // namespace

Translation translate_model(const Model& model, const ImportOptions& options) {
  const Uses uses(model.proto.graph());
  const Contents contents(model);
  const Binding binding = bind_inputs(model, uses, options);
  if (binding.file_batch == 0 || binding.file_batch == binding.batch)
    return Translator(model, uses, contents, binding, nullptr).translate();
  ImportOptions as_stored = options;
  as_stored.batch.reset();
  const Binding stored = bind_inputs(model, uses, as_stored);
  const Translation original = Translator(model, uses, contents, stored, nullptr).translate();
  return Translator(model, uses, contents, binding, &original).translate();
}

}  // namespace strato::onnx_import
