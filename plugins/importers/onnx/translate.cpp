#include "plugins/importers/onnx/translate.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "core/base/error.h"
#include "plugins/importers/onnx/attributes.h"
#include "plugins/importers/onnx/fold.h"
#include "plugins/importers/onnx/inline_body.h"
#include "plugins/importers/onnx/node_view.h"
#include "plugins/importers/onnx/order.h"
#include "plugins/importers/onnx/output_types.h"
#include "plugins/importers/onnx/rebatch.h"

namespace strato::onnx_import {
namespace {

constexpr int kMaxNesting = 32;                                // of functions and branches
constexpr std::size_t kMaxNodes = 2'000'000;                   // after inlining
constexpr std::size_t kMaxFoldedTotal = std::size_t{1} << 25;  // elements of all folded values

class Translator {
 public:
  Translator(const Model& model, const Uses& uses, const Binding& binding,
             const Translation* original)
      : model_(model), uses_(uses), binding_(binding), original_(original) {
    for (const auto& function : model.proto.functions()) {
      functions_[normal_domain(function.domain()) + ":" + function.name()] = &function;
    }
  }

  Translation run() {
    const onnx::GraphProto& graph = model_.proto.graph();
    for (const BoundInput& input : binding_.inputs) add_input(input);
    for (const auto& tensor : graph.initializer()) add_initializer(tensor, tensor.name());
    for (const auto& sparse : graph.sparse_initializer()) add_sparse(sparse);
    run_nodes(graph.node());
    for (const auto& output : graph.output()) {
      const auto found = out_.by_name.find(output.name());
      if (found == out_.by_name.end()) {
        fail("output \"" + output.name() + "\"", "is made by no op", "export the model again");
      }
      out_.results.push_back(found->second);
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& problem,
                         const std::string& remedy) const {
    throw InputError(model_.file, place, problem, remedy);
  }

  // ---- tensors

  Entry& add(const std::string& name, TensorRole role, Facts facts) {
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

  void add_value(const std::string& name, Value value) {
    folded_total_ += value.size();
    auto shared = std::make_shared<const Value>(std::move(value));
    Facts facts{shared->type, shared->shape, shared};
    add(name, TensorRole::Constant, std::move(facts));
  }

  void add_input(const BoundInput& input) {
    Entry& entry = add(input.name, input.weight ? TensorRole::Parameter : TensorRole::Input,
                       {input.type, input.shape, nullptr});
    entry.batch_axis = input.batch_axis;
  }

  void add_initializer(const onnx::TensorProto& tensor, const std::string& name) {
    const std::optional<DataType> type = data_type_of(tensor.data_type());
    if (!type) {
      fail("initializer \"" + name + "\"", "is not a tensor of numbers",
           "remove it from the model");
    }
    Facts facts{*type, Shape(tensor.dims().begin(), tensor.dims().end()), nullptr};
    const bool lone = element_count(facts.shape) == 1 && facts.shape.empty();
    const bool weight = is_floating(*type) && !uses_.only_as_setting(name, lone);
    if (!weight) facts.value = read_value(tensor, model_.folder);
    Entry& entry = add(name, weight ? TensorRole::Parameter : TensorRole::Constant, std::move(facts));
    entry.stored = true;
    note_origin(entry, tensor);
  }

  void note_origin(Entry& entry, const onnx::TensorProto& tensor) const {
    if (model_.with_weights && entry.facts.value == nullptr)
      entry.origin = std::make_shared<const onnx::TensorProto>(tensor);
  }

  void add_sparse(const onnx::SparseTensorProto& sparse) {
    const std::optional<DataType> type = data_type_of(sparse.values().data_type());
    if (!type) return;
    add(sparse.values().name(), TensorRole::Parameter,
        {*type, Shape(sparse.dims().begin(), sparse.dims().end()), nullptr})
        .stored = true;
  }

  // ---- nodes

  void run_nodes(const Nodes& nodes) {
    const auto exists = [this](const std::string& name) { return out_.by_name.contains(name); };
    for (const onnx::NodeProto* node : in_order(nodes, exists, model_.file)) run_node(*node);
  }

  void run_node(const onnx::NodeProto& node) {
    if (++nodes_ > kMaxNodes)
      fail(label_of(node), "the model has too many ops", "export a smaller model");
    const std::string domain = normal_domain(node.domain());
    if (inlined_function(node, domain)) return;
    std::vector<Entry*> inputs = inputs_of(node);
    if (domain.empty()) {
      if (control_flow(node, inputs) || constant(node) || shape_query(node, inputs)) return;
      if (copied_weight(node, inputs) || filled_weight(node, inputs)) return;
      if (original_ != nullptr) adjust_to_batch(node, inputs);
      if (folded(node, inputs)) return;
    }
    emit(node, domain, inputs);
  }

  std::vector<Entry*> inputs_of(const onnx::NodeProto& node) const {
    std::vector<Entry*> inputs;
    for (const std::string& name : node.input()) {
      inputs.push_back(name.empty() ? nullptr : out_.by_name.at(name));
    }
    return inputs;
  }

  bool inlined_function(const onnx::NodeProto& node, const std::string& domain) {
    const auto found = functions_.find(domain + ":" + node.op_type());
    if (found == functions_.end()) return false;
    const onnx::FunctionProto& function = *found->second;
    Renaming names;
    for (int i = 0; i < function.input_size(); ++i) {
      names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
    }
    std::vector<std::pair<std::string, std::string>> results;
    for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
      if (!node.output(i).empty()) results.emplace_back(function.output(i), node.output(i));
    }
    Nodes body = function.node();
    bind_attributes(body, node);
    run_body(node, body, std::move(names), results);
    return true;
  }

  // Runs a body in place; results: its tensor -> the name outside.
  void run_body(const onnx::NodeProto& node, const Nodes& body, Renaming names,
                const std::vector<std::pair<std::string, std::string>>& results) {
    if (++nesting_ > kMaxNesting) {
      fail(label_of(node), "functions or branches are nested too deeply",
           "inline them in the exporter");
    }
    std::unordered_set<std::string> made;
    for (const auto& inner : body) made.insert(inner.output().begin(), inner.output().end());
    for (const auto& [inside, outside] : results) {
      if (made.contains(inside)) names.try_emplace(inside, outside);
    }
    const Nodes nodes = renamed(body, unique_prefix(node), names);
    run_nodes(nodes);
    for (const auto& [inside, outside] : results) {
      const auto name = names.find(inside);
      const std::string& final_name = name == names.end() ? inside : name->second;
      const auto entry = out_.by_name.find(final_name);
      if (entry == out_.by_name.end()) {
        fail(label_of(node), "its result \"" + inside + "\" is made by nothing",
             "export the model again");
      }
      if (final_name != outside) out_.by_name.try_emplace(outside, entry->second);
    }
    --nesting_;
  }

  // For the names inside a body. Op names may repeat.
  std::string unique_prefix(const onnx::NodeProto& node) {
    std::string prefix = node.name().empty() ? unnamed(node) : node.name();
    if (!prefixes_.insert(prefix).second) prefix += "_" + std::to_string(nodes_);
    return prefix;
  }

  bool control_flow(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
    const std::string& type = node.op_type();
    if (type == "Loop" || type == "Scan" || type == "SequenceMap") {
      fail(label_of(node), "control flow is not supported", "unroll the loop in the exporter");
    }
    if (type != "If") return false;
    const bool decided = inputs.size() == 1 && inputs[0] != nullptr &&
                         inputs[0]->facts.value != nullptr &&
                         inputs[0]->facts.value->ints.size() == 1;
    if (!decided) {
      fail(label_of(node), "branches on data: control flow is not supported",
           "export the model with the branch that training takes");
    }
    const bool taken = inputs[0]->facts.value->ints[0] != 0;
    const auto* branch = find_attribute(node, taken ? "then_branch" : "else_branch");
    if (branch == nullptr || !branch->has_g())
      fail(label_of(node), "lacks a branch", "export the model again");
    run_branch(node, branch->g());
    return true;
  }

  void run_branch(const onnx::NodeProto& node, const onnx::GraphProto& branch) {
    Renaming names;
    const std::string prefix = unnamed(node);
    for (const auto& tensor : branch.initializer()) {
      names[tensor.name()] = prefix + "/" + tensor.name();
      add_initializer(tensor, names[tensor.name()]);
    }
    std::vector<std::pair<std::string, std::string>> results;
    for (int i = 0; i < branch.output_size() && i < node.output_size(); ++i) {
      if (!node.output(i).empty()) results.emplace_back(branch.output(i).name(), node.output(i));
    }
    run_body(node, branch.node(), std::move(names), results);
  }

  bool constant(const onnx::NodeProto& node) {
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

  static std::optional<Value> listed_constant(const onnx::AttributeProto& attribute) {
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

  bool shape_query(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
    const bool query = node.op_type() == "Shape" || node.op_type() == "Size";
    if (!query || inputs.size() != 1 || inputs[0] == nullptr || node.output_size() != 1)
      return false;
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
  // place of the others: equal when exported, they are weights of their own when trained.
  bool copied_weight(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
    if (node.op_type() != "Identity" || inputs.size() != 1 || node.output_size() != 1) return false;
    if (inputs[0] == nullptr || inputs[0]->role != TensorRole::Parameter || !inputs[0]->stored)
      return false;
    Entry& copy = add(node.output(0), TensorRole::Parameter, inputs[0]->facts);
    copy.stored = true;
    copy.origin = inputs[0]->origin;
    return true;
  }

  bool filled_weight(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
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

  bool folded(const onnx::NodeProto& node, const std::vector<Entry*>& inputs) {
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

  // ---- another batch than the file's

  const Entry* before(const std::string& name) const {
    const auto found = original_->by_name.find(name);
    return found == original_->by_name.end() ? nullptr : found->second;
  }
  BatchChange change() const { return {binding_.file_batch, binding_.batch}; }

  void adjust_to_batch(const onnx::NodeProto& node, std::vector<Entry*>& inputs) {
    const std::string& type = node.op_type();
    if (type == "Reshape") adjust_target(node, inputs, 1);
    if (type == "Expand") adjust_target(node, inputs, 1);
    if (type == "Resize") adjust_target(node, inputs, 3);
    if (type == "LSTM") adjust_state(inputs, 6);
    if (type == "LSTM" || type == "GRU" || type == "RNN") adjust_state(inputs, 5);
  }

  // A shape given as numbers that did not change with the batch although the tensor did.
  void adjust_target(const onnx::NodeProto& node, std::vector<Entry*>& inputs, std::size_t slot) {
    if (slot >= inputs.size() || !inputs[slot] || !inputs[slot]->facts.value || !inputs[0]) return;
    const Entry* old_target = before(inputs[slot]->name);
    const Entry* old_input = before(node.input(0));
    const Entry* old_result = node.output_size() > 0 ? before(node.output(0)) : nullptr;
    const Shape& target = inputs[slot]->facts.value->ints;
    if (!old_target || !old_result || !old_input || !old_target->facts.value) return;
    const bool follows = old_target->facts.value->ints != target;
    const bool fixed_input =
        old_input->facts.shape == inputs[0]->facts.shape && node.op_type() != "Expand";
    if (follows || fixed_input) return;
    const auto adjusted = rebatched_target(target, old_result->facts.shape, change());
    if (!adjusted) return;
    inputs[slot] = &new_constant(inputs[slot]->name, integers(*adjusted));
  }

  // A recurrent layer's first state, stored for the file's batch (axis 1).
  void adjust_state(std::vector<Entry*>& inputs, std::size_t slot) {
    if (slot >= inputs.size() || inputs[slot] == nullptr || inputs[slot]->facts.shape.size() != 3)
      return;
    const bool data =
        inputs[slot]->role == TensorRole::Activation || inputs[slot]->role == TensorRole::Input;
    if (data || inputs[slot]->facts.shape[1] != change().from) return;
    const Entry* old = before(inputs[slot]->name);
    if (old == nullptr || old->facts.shape != inputs[slot]->facts.shape) return;
    Entry state = *inputs[slot];
    state.facts.shape[1] = change().to;
    state.facts.value = nullptr;
    state.origin = nullptr;  // the file has another batch's
    out_.entries.push_back(std::move(state));
    inputs[slot] = &out_.entries.back();
  }

  Entry& new_constant(const std::string& name, Value value) {
    auto shared = std::make_shared<const Value>(std::move(value));
    Facts facts{shared->type, shared->shape, shared};
    out_.entries.push_back({name, TensorRole::Constant, std::move(facts), -1, false});
    return out_.entries.back();
  }

  // ---- ops

  std::string unnamed(const onnx::NodeProto& node) const {
    return node.op_type() + "_" + std::to_string(nodes_ - 1);
  }

  void emit(const onnx::NodeProto& node, const std::string& domain,
            const std::vector<Entry*>& inputs) {
    if (node.op_type().empty() || node.output_size() == 0) {
      fail(label_of(node), "has no type or no outputs", "export the model again");
    }
    TranslatedOp op{node.name().empty() ? unnamed(node) : node.name(),
                    domain.empty() ? node.op_type() : domain + "::" + node.op_type(),
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

  std::vector<Facts> types_of(const onnx::NodeProto& node, const std::string& domain,
                              const TranslatedOp& op) {
    std::vector<const Facts*> facts;
    for (const Entry* input : op.inputs)
      facts.push_back(input != nullptr ? &input->facts : nullptr);
    const auto version = model_.opsets.find(domain);
    const int opset = version == model_.opsets.end() ? 1 : version->second;
    const Inference inference = infer_node(node, facts, domain, opset);
    if (original_ != nullptr && !inference.failure.empty()) {
      refuse_batch(node, inference.failure);
    }
    const OutputTypes types(model_, binding_, node, op);
    return types.resolve(inference);
  }

  void check_batch(const onnx::NodeProto& node, const Entry& output) const {
    const Entry* old = before(output.name);
    if (old == nullptr || consistent(old->facts.shape, output.facts.shape, change())) return;
    refuse_batch(node, "its size does not follow the batch");
  }

  [[noreturn]] void refuse_batch(const onnx::NodeProto& node, const std::string& reason) const {
    fail(label_of(node),
         "the file's own batch of " + std::to_string(binding_.file_batch) + " is built in here (" +
             reason + ")",
         "leave --batch out, or export the model with a symbolic batch dimension");
  }

  const Model& model_;
  const Uses& uses_;
  const Binding& binding_;
  const Translation* original_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;
  Translation out_;
  std::unordered_set<std::string> prefixes_;
  int nesting_ = 0;
  std::size_t nodes_ = 0;
  std::size_t folded_total_ = 0;
};

}  // namespace

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
