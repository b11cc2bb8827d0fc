#include "plugins/importers/onnx/infer/infer.h"

#include <onnx/defs/attr_proto_util.h>
#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <string_view>
#include <unordered_map>

#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMostShownElements = 4096;  // of constants that inference gets to see
constexpr int kMostListed = 4096;                 // numbers of one attribute

// ---- Nodes that libonnx must not see. Each of these says in words why no op could be like this;
// empty: one could.

// libonnx divides by strides and indexes by axes without looking: values that no op could have stop
// here.
std::string implausible_attribute(const onnx::NodeProto& node) {
  struct Range {
    std::int64_t low, high;
  };
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  constexpr Range kAny = {-kLargest, kLargest}, kPositive = {1, kLargest}, kAxis = {-64, 64};
  static const std::map<std::string_view, Range> ranges = {
      {"strides", kPositive},     {"dilations", kPositive}, {"kernel_shape", kPositive},
      {"group", kPositive},       {"blocksize", kPositive}, {"hidden_size", kPositive},
      {"num_outputs", kPositive}, {"axis", kAxis},          {"axes", kAxis},
      {"batch_dims", kAxis},      {"perm", {0, 64}}};
  for (const auto& attribute : node.attribute()) {
    const std::string& name = attribute.name();
    // "To the end" is often written as the largest number.
    if (name == "starts" || name == "ends" || name == "start" || name == "end") continue;
    const auto known = ranges.find(name);
    const Range range = known != ranges.end() ? known->second : kAny;
    const auto outside = [&](std::int64_t x) { return x < range.low || x > range.high; };
    if ((attribute.has_i() && outside(attribute.i())) ||
        std::any_of(attribute.ints().begin(), attribute.ints().end(), outside))
      return "attribute " + name + " is out of range";
    if (attribute.ints_size() > kMostListed) return "attribute " + name + " is too long";
  }
  return {};
}

// Data-moving ops index their first input's extents after only a look at its presence.
std::string implausible_rank(const onnx::NodeProto& node, const InputFacts& inputs) {
  static const std::unordered_map<std::string_view, std::size_t> least = {
      {"Conv", 3},          {"ConvTranspose", 3},
      {"MaxPool", 3},       {"AveragePool", 3},
      {"LpPool", 3},        {"GlobalAveragePool", 2},
      {"GlobalMaxPool", 2}, {"BatchNormalization", 1},
      {"MaxRoiPool", 4},    {"InstanceNormalization", 2},
      {"LSTM", 3},          {"GRU", 3},
      {"RNN", 3},           {"DepthToSpace", 4},
      {"SpaceToDepth", 4},  {"LayerNormalization", 1},
      {"Gemm", 2},          {"RoiAlign", 4},
      {"MaxUnpool", 3}};
  const auto rule = least.find(node.op_type());
  if (rule == least.end() || inputs.empty() || inputs[0] == nullptr) return {};
  if (inputs[0]->shape.size() < rule->second) return "its first input has too few dimensions";
  const bool filters = node.op_type() == "Conv" || node.op_type() == "ConvTranspose";
  if (filters && inputs.size() > 1 && inputs[1] != nullptr &&
      inputs[1]->shape.size() != inputs[0]->shape.size()) {
    return "its filter has another number of dimensions than its input";
  }
  return {};
}

// Indices must address what the input has.
std::string implausible_indices(const onnx::NodeProto& node, const InputFacts& inputs) {
  if (node.op_type() != "GatherND" || inputs.size() < 2 || !inputs[0] || !inputs[1]) return {};
  const Shape& indices = inputs[1]->shape;
  const std::int64_t shared = integer(node, "batch_dims", 0), rank = std::ssize(inputs[0]->shape);
  const bool good = !indices.empty() && shared >= 0 && shared < std::ssize(indices) &&
                    indices.back() >= 1 && shared + indices.back() <= rank;
  return good ? "" : "its indices do not fit its input";
}

// Ops whose inference in libonnx 1.12 crashes on some malformed nodes, and that training graphs do
// without.
bool is_unsafe(std::string_view type) {
  return type == "STFT" || type == "SplitToSequence" || type == "ConvInteger" ||
         type == "QLinearConv" || type == "MaxUnpool";
}

// ---- The others.

// Reductions take their axes as an input from op set 18 on; libonnx's rules want the attribute.
void axes_to_attribute(onnx::NodeProto& node, const InputFacts& inputs,
                       const onnx::OpSchema& schema) {
  const bool reduction = node.op_type().starts_with("Reduce") && schema.max_input() == 1;
  if (!reduction || node.input_size() < 2) return;
  if (inputs[1] != nullptr && inputs[1]->value != nullptr)
    *node.add_attribute() = onnx::MakeAttribute("axes", inputs[1]->value->ints);
  while (node.input_size() > 1) node.mutable_input()->RemoveLast();
}

// Attributes of op sets that libonnx does not know, without which the result has another shape: the
// catalogue's rules have them.
bool shapes_by_newer_attribute(const onnx::NodeProto& node, const onnx::OpSchema& schema) {
  static const std::unordered_map<std::string_view, std::string_view> telling = {
      {"ceil_mode", "Pool"},
      {"dilations", "Pool"},
      {"keep_aspect_ratio_policy", "Resize"},
      {"axes", "Resize"},
      {"num_outputs", "Split"}};
  return std::ranges::any_of(node.attribute(), [&](const onnx::AttributeProto& attribute) {
    const auto found = telling.find(attribute.name());
    return found != telling.end() && node.op_type().ends_with(found->second) &&
           !schema.attributes().contains(attribute.name());
  });
}

// The node as libonnx's op set knows it: attributes of newer op sets are left out.
onnx::NodeProto adapted(const onnx::NodeProto& node, const InputFacts& inputs,
                        const onnx::OpSchema& schema) {
  onnx::NodeProto result = node;
  result.clear_attribute();
  for (const auto& attribute : node.attribute())
    if (schema.attributes().contains(attribute.name())) *result.add_attribute() = attribute;
  axes_to_attribute(result, inputs, schema);
  return result;
}

// A lone number as a list of one.
Facts as_list(const Facts& number) {
  Facts list = number;
  list.shape = {1};
  if (number.value == nullptr) return list;
  Value elements = *number.value;
  elements.shape = {1};
  list.value = std::make_shared<const Value>(std::move(elements));
  return list;
}

// Owns what an inference context points to.
struct ContextInputs {
  ContextInputs(const onnx::NodeProto& node, const InputFacts& inputs) {
    for (std::size_t i = 0; i < inputs.size() && std::cmp_less(i, node.input_size()); ++i)
      if (inputs[i] != nullptr) add(node.input(static_cast<int>(i)), as_expected(node, i, inputs));
  }

  // TopK wants its number in a list; runtimes take either.
  static Facts as_expected(const onnx::NodeProto& node, std::size_t i, const InputFacts& inputs) {
    const bool lone = node.op_type() == "TopK" && i == 1 && inputs[i]->shape.empty();
    return lone ? as_list(*inputs[i]) : *inputs[i];
  }

  void add(const std::string& name, const Facts& facts) {
    onnx::TypeProto& type = types.emplace_back();
    type.mutable_tensor_type()->set_elem_type(onnx_type_of(facts.type));
    onnx::TensorShapeProto* shape = type.mutable_tensor_type()->mutable_shape();
    for (const std::int64_t extent : facts.shape) shape->add_dim()->set_dim_value(extent);
    type_of[name] = &type;
    if (facts.value == nullptr || facts.value->size() > kMostShownElements) return;
    write_value(*facts.value, values.emplace_back());
    value_of[name] = &values.back();
  }

  std::deque<onnx::TypeProto> types;  // addresses stay
  std::deque<onnx::TensorProto> values;
  std::unordered_map<std::string, onnx::TypeProto*> type_of;
  std::unordered_map<std::string, const onnx::TensorProto*> value_of;
};

InferredOutput read_output(const onnx::TypeProto& type) {
  InferredOutput output;
  if (!type.has_tensor_type()) return output;
  output.type = data_type_of(type.tensor_type().elem_type());
  if (!type.tensor_type().has_shape()) return output;
  output.shape.emplace();
  for (const auto& dim : type.tensor_type().shape().dim())
    output.shape->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  return output;
}

void run(const onnx::OpSchema& schema, const onnx::NodeProto& node, const InputFacts& inputs,
         Inference& result) {
  onnx::NodeProto copy = adapted(node, inputs, schema);
  schema.Verify(copy);
  const ContextInputs facts(copy, inputs);
  onnx::shape_inference::InferenceContextImpl context(copy, facts.type_of, facts.value_of, {});
  schema.GetTypeAndShapeInferenceFunction()(context);
  for (const onnx::TypeProto& type : context.allOutputTypes_)
    result.outputs.push_back(read_output(type));
}

// A reduction of all axes or of none, which op sets before 18 say otherwise.
bool reduces_by_default(const onnx::NodeProto& node, const InputFacts& inputs) {
  if (!node.op_type().starts_with("Reduce") || find_attribute(node, "axes") != nullptr)
    return false;
  const bool listed = has_input(node, 1) && inputs.size() > 1 && inputs[1] != nullptr;
  const bool empty = listed && inputs[1]->value != nullptr && inputs[1]->value->size() == 0;
  return empty || (!listed && integer(node, "noop_with_empty_axes", 0) != 0);
}

template <class T>
void append(std::string& key, const T& number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// All that a node's inference follows from but for names; elements of inputs are left out.
std::string key_of(const onnx::NodeProto& node, const InputFacts& inputs, const std::string& domain,
                   int opset) {
  std::string key = node.op_type();
  key.append(1, '\0').append(domain).append(1, '\0');
  append(key, opset);
  for (const std::string& input : node.input()) key += input.empty() ? '-' : 'i';
  for (const std::string& output : node.output()) key += output.empty() ? '-' : 'o';
  for (const Facts* input : inputs) {
    append(key, input == nullptr ? std::ptrdiff_t{-1} : std::ssize(input->shape));
    if (input == nullptr) continue;
    append(key, input->type);
    for (const std::int64_t extent : input->shape) append(key, extent);
  }
  for (const auto& attribute : node.attribute()) {
    append(key, attribute.ByteSizeLong());
    attribute.AppendToString(&key);
  }
  return key;
}

// Tells whether libonnx has the op set's own rules. For a later one than it knows it has those of
// an earlier one, which may have changed.
bool knows(const std::string& domain, int opset) {
  const auto& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto range = versions.find(domain);
  return range != versions.end() && opset <= range->second.second;
}

}  // namespace

Inference infer_node(const onnx::NodeProto& node, const InputFacts& inputs,
                     const std::string& domain, int opset) {
  Inference result;
  const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, domain);
  if (schema == nullptr) return result;
  result.known_type = schema->has_type_and_shape_inference_function();
  result.failure = implausible_attribute(node);
  if (result.failure.empty()) result.failure = implausible_rank(node, inputs);
  if (result.failure.empty()) result.failure = implausible_indices(node, inputs);
  result.impossible = !result.failure.empty() && knows(domain, opset);
  if (is_unsafe(node.op_type())) result.failure = "no rule for this op";
  if (!result.failure.empty() || !result.known_type) return result;
  if (reduces_by_default(node, inputs) || shapes_by_newer_attribute(node, *schema)) return result;
  try {
    run(*schema, node, inputs, result);
  } catch (const std::exception& error) {
    result.failure = error.what();
    result.impossible = knows(domain, opset);
    result.outputs.clear();
  }
  return result;
}

// What it says of a node that fails has the node's name.
Inference Inferences::of(const onnx::NodeProto& node, const InputFacts& inputs,
                         const std::string& domain, int opset) {
  constexpr std::size_t kMostKnown = 10'000;
  if (std::ranges::any_of(inputs, [](const Facts* input) { return input && input->value; }))
    return infer_node(node, inputs, domain, opset);
  std::string key = key_of(node, inputs, domain, opset);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  Inference inference = infer_node(node, inputs, domain, opset);
  if (known_.size() >= kMostKnown) known_.clear();
  if (inference.failure.empty()) known_.emplace(std::move(key), inference);
  return inference;
}

}  // namespace strato::onnx_import
