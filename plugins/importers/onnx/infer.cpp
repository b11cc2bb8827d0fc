#include "plugins/importers/onnx/infer.h"

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <exception>
#include <string_view>
#include <unordered_map>

#include "plugins/importers/onnx/node_view.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMostShownElements = 4096;  // of constants that inference gets to see

bool all_within(const onnx::AttributeProto& attribute, std::int64_t low, std::int64_t high) {
  if (attribute.has_i() && (attribute.i() < low || attribute.i() > high)) return false;
  for (const std::int64_t element : attribute.ints()) {
    if (element < low || element > high) return false;
  }
  return true;
}

// libonnx divides by strides and indexes by axes without looking: values that no op could have stop
// here.
std::string implausible_attribute(const onnx::NodeProto& node) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  for (const auto& attribute : node.attribute()) {
    const std::string_view name = attribute.name();
    std::int64_t low = -kLargest, high = kLargest;
    if (name == "strides" || name == "dilations" || name == "kernel_shape" || name == "group" ||
        name == "blocksize" || name == "hidden_size" || name == "num_outputs") {
      low = 1;
    } else if (name == "axis" || name == "axes" || name == "batch_dims") {
      low = -64, high = 64;
    } else if (name == "perm") {
      low = 0, high = 64;
    } else if (name == "starts" || name == "ends" || name == "start" || name == "end") {
      continue;  // "to the end" is often written as the largest number
    }
    if (!all_within(attribute, low, high))
      return "attribute " + attribute.name() + " is out of range";
    if (attribute.ints_size() > 4096) return "attribute " + attribute.name() + " is too long";
  }
  return {};
}

// Data-moving ops index their first input's extents after only a look at its presence.
std::string implausible_rank(const onnx::NodeProto& node, const std::vector<const Facts*>& inputs) {
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
std::string implausible_indices(const onnx::NodeProto& node,
                                const std::vector<const Facts*>& inputs) {
  if (node.op_type() != "GatherND" || inputs.size() < 2 || !inputs[0] || !inputs[1]) return {};
  const Shape& data = inputs[0]->shape;
  const Shape& indices = inputs[1]->shape;
  const std::int64_t shared = integer(node, "batch_dims", 0);
  const auto rank = static_cast<std::int64_t>(data.size());
  const bool good = !indices.empty() && shared >= 0 &&
                    shared < static_cast<std::int64_t>(indices.size()) && indices.back() >= 1 &&
                    shared + indices.back() <= rank;
  return good ? "" : "its indices do not fit its input";
}

// Ops whose inference in libonnx 1.12 crashes on some malformed nodes, and that training graphs do
// without.
bool is_unsafe(std::string_view type) {
  return type == "STFT" || type == "SplitToSequence" || type == "ConvInteger" ||
         type == "QLinearConv" || type == "MaxUnpool";
}

// From op set 18 on, reductions take their axes as an input; libonnx's rules want the attribute.
void axes_to_attribute(onnx::NodeProto& node, const std::vector<const Facts*>& inputs,
                       const onnx::OpSchema& schema) {
  const bool reduction = node.op_type().starts_with("Reduce") && schema.max_input() == 1;
  if (!reduction || node.input_size() < 2) return;
  if (inputs[1] != nullptr && inputs[1]->value != nullptr) {
    onnx::AttributeProto* axes = node.add_attribute();
    axes->set_name("axes");
    axes->set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t axis : inputs[1]->value->ints) axes->add_ints(axis);
  }
  while (node.input_size() > 1) node.mutable_input()->RemoveLast();
}

// The node as libonnx's op set knows it: attributes of newer op sets are left out.
onnx::NodeProto adapted(const onnx::NodeProto& node, const std::vector<const Facts*>& inputs,
                        const onnx::OpSchema& schema) {
  onnx::NodeProto result;
  *result.mutable_input() = node.input();
  *result.mutable_output() = node.output();
  result.set_name(node.name());
  result.set_op_type(node.op_type());
  result.set_domain(node.domain());
  for (const auto& attribute : node.attribute()) {
    if (schema.attributes().contains(attribute.name())) *result.add_attribute() = attribute;
  }
  axes_to_attribute(result, inputs, schema);
  return result;
}

// Owns what an inference context points to.
class InputFacts {
 public:
  InputFacts(const onnx::NodeProto& node, const std::vector<const Facts*>& inputs) {
    types_.reserve(inputs.size());
    data_.reserve(inputs.size());
    for (std::size_t i = 0; i < inputs.size() && i < static_cast<std::size_t>(node.input_size());
         ++i) {
      if (inputs[i] != nullptr) add(node.input(static_cast<int>(i)), *inputs[i]);
    }
  }
  const std::unordered_map<std::string, onnx::TypeProto*>& types() const { return type_of_; }
  const std::unordered_map<std::string, const onnx::TensorProto*>& data() const { return data_of_; }

 private:
  void add(const std::string& name, const Facts& facts) {
    onnx::TypeProto& type = types_.emplace_back();
    type.mutable_tensor_type()->set_elem_type(onnx_type_of(facts.type));
    onnx::TensorShapeProto* shape = type.mutable_tensor_type()->mutable_shape();
    for (const std::int64_t extent : facts.shape) shape->add_dim()->set_dim_value(extent);
    type_of_[name] = &type;
    if (facts.value == nullptr || facts.value->size() > kMostShownElements) return;
    onnx::TensorProto& tensor = data_.emplace_back();
    write_value(*facts.value, tensor);
    data_of_[name] = &tensor;
  }

  std::vector<onnx::TypeProto> types_;  // reserved: addresses stay
  std::vector<onnx::TensorProto> data_;
  std::unordered_map<std::string, onnx::TypeProto*> type_of_;
  std::unordered_map<std::string, const onnx::TensorProto*> data_of_;
};

InferredOutput read_output(const onnx::TypeProto& type) {
  InferredOutput output;
  if (!type.has_tensor_type()) return output;
  output.type = data_type_of(type.tensor_type().elem_type());
  if (!type.tensor_type().has_shape()) return output;
  output.shape.emplace();
  for (const auto& dim : type.tensor_type().shape().dim()) {
    output.shape->push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : -1);
  }
  return output;
}

void run(const onnx::OpSchema& schema, const onnx::NodeProto& node,
         const std::vector<const Facts*>& inputs, Inference& result) {
  onnx::NodeProto copy = adapted(node, inputs, schema);
  schema.Verify(copy);
  const InputFacts facts(copy, inputs);
  onnx::shape_inference::InferenceContextImpl context(copy, facts.types(), facts.data(), {});
  schema.GetTypeAndShapeInferenceFunction()(context);
  for (const onnx::TypeProto& type : context.allOutputTypes_)
    result.outputs.push_back(read_output(type));
}

// A reduction of no axes at all, which op sets before 18 did not know for most of them.
bool reduces_nothing(const onnx::NodeProto& node) {
  return node.op_type().starts_with("Reduce") && integer(node, "noop_with_empty_axes", 0) != 0 &&
         !has_input(node, 1) && find_attribute(node, "axes") == nullptr;
}

// Of a later op set than libonnx's the rules are those of an earlier one, and may have changed.
bool knows(const std::string& domain, int opset) {
  const auto& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto range = versions.find(domain);
  return range != versions.end() && opset <= range->second.second;
}

}  // namespace

Inference infer_node(const onnx::NodeProto& node, const std::vector<const Facts*>& inputs,
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
  if (!result.failure.empty() || !result.known_type || reduces_nothing(node)) return result;
  try {
    run(*schema, node, inputs, result);
  } catch (const std::exception& error) {
    result.failure = error.what();
    result.impossible = knows(domain, opset);
    result.outputs.clear();
  }
  return result;
}

}  // namespace strato::onnx_import
