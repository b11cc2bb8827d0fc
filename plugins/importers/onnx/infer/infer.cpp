#include "plugins/importers/onnx/infer/infer.h"

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <exception>
#include <string_view>
#include <unordered_map>

#include "plugins/importers/onnx/infer/implausible.h"
#include "plugins/importers/onnx/read/element_type.h"
#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/tensor_value.h"

namespace strato::onnx_import {
namespace {

constexpr std::size_t kMostShownElements = 4096;  // of constants that inference gets to see

// Ops whose inference in libonnx 1.12 crashes on some malformed nodes, and that training graphs do
// without.
bool is_unsafe(std::string_view type) {
  return type == "STFT" || type == "SplitToSequence" || type == "ConvInteger" ||
         type == "QLinearConv" || type == "MaxUnpool";
}

// Reductions take their axes as an input from op set 18 on; libonnx's rules want the attribute.
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

// Tells whether libonnx has the op set's own rules. For a later one than it knows it has those of
// an earlier one, which may have changed.
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
  result.failure = implausible(node, inputs);
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
