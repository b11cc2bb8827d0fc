#include "plugins/importers/onnx/translate.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/graph/ops/catalogue.h"
#include "plugins/importers/onnx/attributes.h"
#include "plugins/importers/onnx/fold.h"
#include "plugins/importers/onnx/newer_fields.h"
#include "plugins/importers/onnx/node_view.h"
#include "plugins/importers/onnx/order.h"
#include "plugins/importers/onnx/output_types.h"
#include "plugins/importers/onnx/translator.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMaxNodes = 2'000'000;                   // after inlining
constexpr std::size_t kMaxFoldedTotal = std::size_t{1} << 25;  // elements of all folded values

// Ops of com.microsoft that the catalogue knows go by their bare names, and those of ONNX that are
// something else under the same name by another.
std::string graph_type(const std::string& domain, const std::string& type) {
  if (domain.empty()) return type;
  if (domain == "com.microsoft" && type == "Attention") return "ProjectedAttention";
  if (domain == "com.microsoft" && find_rule(type) != nullptr) return type;
  return domain + "::" + type;
}

}  // namespace

Translator::Translator(const Model& model, const Uses& uses, const Binding& binding,
                       const Translation* original)
    : model_(model), uses_(uses), binding_(binding), original_(original) {
  for (const auto& function : model.proto.functions()) {
    functions_[normal_domain(function.domain()) + ":" + function.name() + ":" +
               overload_of(function)] = &function;
  }
}

Translation Translator::run() {
  const onnx::GraphProto& graph = model_.proto.graph();
  for (const BoundInput& input : binding_.inputs) add_input(input);
  for (const auto& tensor : graph.initializer()) add_initializer(tensor, tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) add_sparse(sparse);
  run_nodes(graph.node());
  for (const auto& output : graph.output()) {
    if (const auto list = sequences_.find(output.name()); list != sequences_.end()) {
      out_.results.insert(out_.results.end(), list->second.begin(), list->second.end());
      continue;
    }
    const auto found = out_.by_name.find(output.name());
    if (found == out_.by_name.end()) {
      fail("output \"" + output.name() + "\"", "is made by no op", "export the model again");
    }
    out_.results.push_back(found->second);
  }
  return std::move(out_);
}

void Translator::fail(const std::string& place, const std::string& problem,
                      const std::string& remedy) const {
  throw InputError(model_.file, place, problem, remedy);
}

// ---- tensors

Entry& Translator::add(const std::string& name, TensorRole role, Facts facts) {
  if (!element_count(facts.shape)) {
    fail("tensor \"" + name + "\"", "has a negative extent or is too large for any machine",
         "check the model's dimensions and the batch size");
  }
  out_.entries.push_back({name, role, std::move(facts), -1, false});
  Entry& entry = out_.entries.back();
  if (!name.empty() && !out_.by_name.emplace(name, &entry).second) {
    fail("tensor \"" + name + "\"", "is defined twice", "give every tensor its own name");
  }
  return entry;
}

void Translator::add_value(const std::string& name, Value value) {
  folded_total_ += value.size();
  auto shared = std::make_shared<const Value>(std::move(value));
  Facts facts{shared->type, shared->shape, shared};
  add(name, TensorRole::Constant, std::move(facts));
}

void Translator::add_input(const BoundInput& input) {
  if (input.value) {
    Value value = integers({*input.value});
    value.type = input.type;
    value.shape = input.shape;
    return add_value(input.name, std::move(value));
  }
  Entry& entry = add(input.name, input.weight ? TensorRole::Parameter : TensorRole::Input,
                     {input.type, input.shape, nullptr});
  entry.batch_axis = input.batch_axis;
}

void Translator::add_initializer(const onnx::TensorProto& tensor, const std::string& name) {
  const std::optional<DataType> type = data_type_of(tensor.data_type());
  if (!type) {
    fail("initializer \"" + name + "\"", "is not a tensor of numbers", "remove it from the model");
  }
  Facts facts{*type, Shape(tensor.dims().begin(), tensor.dims().end()), nullptr};
  const bool lone = element_count(facts.shape) == 1 && facts.shape.empty();
  const bool weight = is_floating(*type) && !uses_.only_as_setting(name, lone);
  if (!weight) facts.value = read_value(tensor, model_.folder);
  Entry& entry = add(name, weight ? TensorRole::Parameter : TensorRole::Constant, std::move(facts));
  entry.stored = true;
  note_origin(entry, tensor);
}

void Translator::note_origin(Entry& entry, const onnx::TensorProto& tensor) const {
  if (model_.with_weights && entry.facts.value == nullptr)
    entry.origin = std::make_shared<const onnx::TensorProto>(tensor);
}

void Translator::add_sparse(const onnx::SparseTensorProto& sparse) {
  const std::optional<DataType> type = data_type_of(sparse.values().data_type());
  if (!type) return;
  add(sparse.values().name(), TensorRole::Parameter,
      {*type, Shape(sparse.dims().begin(), sparse.dims().end()), nullptr})
      .stored = true;
}

Entry& Translator::new_constant(const std::string& name, Value value) {
  auto shared = std::make_shared<const Value>(std::move(value));
  Facts facts{shared->type, shared->shape, shared};
  out_.entries.push_back({name, TensorRole::Constant, std::move(facts), -1, false});
  return out_.entries.back();
}

bool Translator::exists(const std::string& name) const {
  return out_.by_name.contains(name) || sequences_.contains(name);
}

std::optional<std::int64_t> Translator::known_number(const std::string& name) const {
  const auto found = out_.by_name.find(name);
  if (found == out_.by_name.end() || found->second->facts.value == nullptr) return std::nullopt;
  const Value& value = *found->second->facts.value;
  if (value.floating() || value.ints.size() != 1) return std::nullopt;
  return value.ints[0];
}

void Translator::give_name(const onnx::NodeProto& node, const std::string& made,
                           const std::string& name) {
  if (made == name || name.empty()) return;
  if (const auto tensor = out_.by_name.find(made); tensor != out_.by_name.end()) {
    out_.by_name.try_emplace(name, tensor->second);
  } else if (const auto list = sequences_.find(made); list != sequences_.end()) {
    if (!sequences_.contains(name)) keep_list(node, name, list->second);
  } else {
    fail(label_of(node), "its result \"" + made + "\" is made by nothing",
         "export the model again");
  }
}

// ---- nodes

void Translator::run_nodes(const Nodes& nodes) {
  const auto is_there = [this](const std::string& name) { return exists(name); };
  for (const onnx::NodeProto* node : in_order(nodes, is_there, model_.file)) run_node(*node);
}

void Translator::run_node(const onnx::NodeProto& node) {
  if (++nodes_ > kMaxNodes)
    fail(label_of(node), "the model has too many ops", "export a smaller model");
  const std::string domain = normal_domain(node.domain());
  if (inlined_function(node, domain)) return;
  if (domain.empty() && (control_flow(node) || sequence_op(node))) return;
  std::vector<Entry*> inputs = inputs_of(node);
  if (domain.empty()) {
    if (constant(node) || shape_query(node, inputs)) return;
    if (copied_weight(node, inputs) || filled_weight(node, inputs)) return;
    if (original_ != nullptr) adjust_to_batch(node, inputs);
    if (folded(node, inputs)) return;
  }
  emit(node, domain, inputs);
}

Translator::Entries Translator::inputs_of(const onnx::NodeProto& node) const {
  std::vector<Entry*> inputs;
  for (const std::string& name : node.input()) {
    const auto found = out_.by_name.find(name);
    if (!name.empty() && found == out_.by_name.end()) {
      fail(label_of(node), "reads \"" + name + "\", which is a list of tensors",
           "export the model without sequences");
    }
    inputs.push_back(name.empty() ? nullptr : found->second);
  }
  return inputs;
}

bool Translator::constant(const onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || node.output_size() != 1) return false;
  const std::string& name = node.output(0);
  if (const auto* attribute = find_attribute(node, "value");
      attribute != nullptr && attribute->has_t()) {
    const onnx::TensorProto& tensor = attribute->t();
    const std::optional<DataType> type = data_type_of(tensor.data_type());
    if (!type) fail(label_of(node), "is not a tensor of numbers", "remove it from the model");
    Facts facts{*type, Shape(tensor.dims().begin(), tensor.dims().end()), nullptr};
    const bool weight = is_floating(*type) && !facts.shape.empty() && uses_.as_weight(name);
    if (!weight) facts.value = read_value(tensor, model_.folder);
    note_origin(add(name, weight ? TensorRole::Parameter : TensorRole::Constant, std::move(facts)),
                tensor);
    return true;
  }
  if (node.attribute_size() == 0) fail(label_of(node), "has no value", "export the model again");
  std::optional<Value> value = listed_constant(node.attribute(0));
  if (!value) fail(label_of(node), "holds no numbers", "remove it from the model");
  add_value(name, std::move(*value));
  return true;
}

std::optional<Value> Translator::listed_constant(const onnx::AttributeProto& attribute) {
  if (attribute.name() == "value_int")
    return scalar(DataType::I64, static_cast<double>(attribute.i()));
  if (attribute.name() == "value_float") return scalar(DataType::F32, attribute.f());
  if (attribute.name() == "value_ints") {
    return integers({attribute.ints().begin(), attribute.ints().end()});
  }
  if (attribute.name() != "value_floats") return std::nullopt;
  Value value{DataType::F32, {attribute.floats_size()}, {}, {}};
  value.reals.assign(attribute.floats().begin(), attribute.floats().end());
  return value;
}

bool Translator::shape_query(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
  const bool query = node.op_type() == "Shape" || node.op_type() == "Size";
  if (!query || inputs.size() != 1 || inputs[0] == nullptr || node.output_size() != 1) return false;
  const Shape& shape = inputs[0]->facts.shape;
  if (node.op_type() == "Size") {
    Value size = integers({element_count(shape).value_or(0)});
    size.shape.clear();
    add_value(node.output(0), std::move(size));
    return true;
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto inside = [rank](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? std::max(at, -rank) + rank : at, 0, rank);
  };
  const std::int64_t begin = inside(integer(node, "start", 0)),
                     end = inside(integer(node, "end", rank));
  add_value(node.output(0),
            integers({shape.begin() + begin, shape.begin() + std::max(begin, end)}));
  return true;
}

// Exporters that merge initializers of equal content (PyTorch does) leave Identity ops in the
// place of the others: equal when exported, they are weights of their own when trained. Inside a
// body such an op hands a weight on.
bool Translator::copied_weight(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
  if (node.op_type() != "Identity" || inputs.size() != 1 || node.output_size() != 1) return false;
  if (inputs[0] == nullptr || inputs[0]->role != TensorRole::Parameter || !inputs[0]->stored)
    return false;
  if (nesting_ > 0) {  // what goes from round to round
    give_name(node, node.input(0), node.output(0));
    return true;
  }
  Entry& copy = add(node.output(0), TensorRole::Parameter, inputs[0]->facts);
  copy.stored = true;
  copy.origin = inputs[0]->origin;
  return true;
}

bool Translator::filled_weight(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
  if (node.op_type() != "ConstantOfShape" || inputs.size() != 1 || node.output_size() != 1)
    return false;
  const Value* shape = inputs[0] != nullptr ? inputs[0]->facts.value.get() : nullptr;
  if (shape == nullptr || shape->floating() || shape->ints.empty() ||
      !uses_.as_weight(node.output(0))) {
    return false;
  }
  onnx::TensorProto fill;  // one element
  fill.set_data_type(onnx::TensorProto::FLOAT);
  fill.add_float_data(0);
  if (const auto* value = find_attribute(node, "value")) fill = value->t();
  const DataType type = data_type_of(fill.data_type()).value_or(DataType::F32);
  if (!is_floating(type)) return false;
  note_origin(add(node.output(0), TensorRole::Parameter, {type, shape->ints, nullptr}), fill);
  return true;
}

bool Translator::folded(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
  std::vector<const Value*> values;
  for (const Entry* input : inputs) {
    if (input != nullptr && input->facts.value == nullptr) return false;
    values.push_back(input != nullptr ? input->facts.value.get() : nullptr);
  }
  if (values.empty() || folded_total_ > kMaxFoldedTotal) return false;
  std::vector<Value> results = fold(node, values);
  if (results.empty()) return false;
  for (int i = 0; i < node.output_size(); ++i) {
    if (!node.output(i).empty())
      add_value(node.output(i), std::move(results[static_cast<std::size_t>(i)]));
  }
  return true;
}

// ---- ops

std::string Translator::unnamed(const onnx::NodeProto& node) const {
  return node.op_type() + "_" + std::to_string(nodes_ - 1);
}

void Translator::emit(const onnx::NodeProto& node, const std::string& domain,
                      const std::vector<Entry*>& inputs) {
  if (node.op_type().empty() || node.output_size() == 0) {
    fail(label_of(node), "has no type or no outputs", "export the model again");
  }
  TranslatedOp op{node.name().empty() ? unnamed(node) : node.name(),
                  graph_type(domain, node.op_type()),
                  inputs,
                  {},
                  attributes_of(node)};
  const std::vector<Facts> outputs = types_of(node, domain, op);
  for (int i = 0; i < node.output_size(); ++i) {
    op.outputs.push_back(
        &add(node.output(i), TensorRole::Activation, outputs[static_cast<std::size_t>(i)]));
    if (original_ != nullptr) check_batch(node, *op.outputs.back());
  }
  out_.ops.push_back(std::move(op));
}

std::vector<Facts> Translator::types_of(const onnx::NodeProto& node, const std::string& domain,
                                        const TranslatedOp& op) {
  std::vector<const Facts*> facts;
  for (const Entry* input : op.inputs) facts.push_back(input != nullptr ? &input->facts : nullptr);
  const auto version = model_.opsets.find(domain);
  const int opset = version == model_.opsets.end() ? 1 : version->second;
  const Inference inference = infer_node(node, facts, domain, opset);
  if (original_ != nullptr && !inference.failure.empty()) {
    refuse_batch(node, inference.failure);
  }
  const OutputTypes types(model_, binding_, node, op);
  return types.resolve(inference);
}

void Translator::run_made(const std::string& type, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, std::optional<std::int64_t> axis,
                          const std::vector<std::int64_t>& list) {
  constexpr int kListsAreInputs = 13;  // op set
  onnx::NodeProto node;
  node.set_name(outputs[0]);
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  const auto attribute = [&node](const char* name, onnx::AttributeProto::AttributeType kind) {
    onnx::AttributeProto* added = node.add_attribute();
    added->set_name(name);
    added->set_type(kind);
    return added;
  };
  if (axis) attribute("axis", onnx::AttributeProto::INT)->set_i(*axis);
  if (!list.empty() && model_.opsets.at("") >= kListsAreInputs) {
    node.add_input(outputs[0] + "/list");
    add_value(outputs[0] + "/list", integers(list));
  } else if (!list.empty()) {
    auto* added = attribute(type == "Split" ? "split" : "axes", onnx::AttributeProto::INTS);
    for (const std::int64_t element : list) added->add_ints(element);
  }
  charge(node, outputs.size() + inputs.size() / 8);
  run_node(node);
}

Translation translate(const Model& model, const Uses& uses, const Binding& binding,
                      const Translation* original) {
  return Translator(model, uses, binding, original).run();
}

Translation translate_at(const Model& model, const Uses& uses, const Binding& binding,
                         const ImportOptions& options) {
  if (binding.file_batch == 0 || binding.file_batch == binding.batch)
    return translate(model, uses, binding, nullptr);
  ImportOptions as_stored = options;
  as_stored.batch.reset();
  const Translation original = translate(model, uses, bind_inputs(model, uses, as_stored), nullptr);
  return translate(model, uses, binding, &original);
}

}  // namespace strato::onnx_import
