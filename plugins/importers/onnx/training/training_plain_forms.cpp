// Ops that only training files have, as ONNX's own.
#include <onnx/defs/attr_proto_util.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "plugins/importers/onnx/read/node_view.h"
#include "plugins/importers/onnx/read/value.h"
#include "plugins/importers/onnx/training/training.h"

namespace strato::onnx_import {
namespace {

class PlainForms {
 public:
  explicit PlainForms(Model& model) : model_(model), graph_(*model.proto.mutable_graph()) {
    for_each_node(graph_.node(), [this](const onnx::NodeProto& node) {
      read_.insert(node.input().begin(), node.input().end());
      for (const auto& attribute : node.attribute())
        for (const auto& output : attribute.g().output()) read_.insert(output.name());
    });
    for (const auto& output : graph_.output()) read_.insert(output.name());
    read_.erase("");
  }

  void run() {
    using Write = void (PlainForms::*)(const onnx::NodeProto&);
    static const std::unordered_map<std::string_view, Write> kinds = {
        {"ConcatTraining", &PlainForms::write_concat},
        {"SoftmaxCrossEntropyLossInternal", &PlainForms::write_loss},
        {"BatchNormInternal", &PlainForms::write_normalization},
        {"BitmaskDropout", &PlainForms::write_dropout},
        {"BiasDropout", &PlainForms::write_dropout},
        {"BitmaskBiasDropout", &PlainForms::write_dropout},
        {"ATen", &PlainForms::write_aten}};
    const Nodes before = graph_.node();
    graph_.clear_node();
    for (const onnx::NodeProto& node : before) {
      const auto kind = kinds.find(node.op_type());
      if (kind != kinds.end() && !node.domain().empty() && node.output_size() > 0)
        (this->*kind->second)(node);
      else
        *graph_.add_node() = node;
    }
  }

 private:
  // A node of ONNX's own with the attributes, and the first inputs and outputs, of another one.
  onnx::NodeProto& add_like(const onnx::NodeProto& node, const char* type, int inputs,
                            int outputs) {
    onnx::NodeProto& added = *graph_.add_node();
    added = node;
    added.clear_domain();
    added.set_op_type(type);
    while (added.input_size() > inputs) added.mutable_input()->RemoveLast();
    while (added.input_size() > 0 && added.input(added.input_size() - 1).empty())
      added.mutable_input()->RemoveLast();
    while (added.output_size() > outputs) added.mutable_output()->RemoveLast();
    return added;
  }

  onnx::NodeProto& add_new(const std::string& name, const char* type,
                           const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto& added = *graph_.add_node();
    added.set_name(name);
    added.set_op_type(type);
    for (const std::string& input : inputs) added.add_input(input);
    added.add_output(output);
    return added;
  }

  bool is_read(const onnx::NodeProto& node, int output) const {
    return output < node.output_size() && read_.contains(node.output(output));
  }

  // Its second result: how long each input is along the axis.
  void write_concat(const onnx::NodeProto& node) {
    add_like(node, "Concat", node.input_size(), 1);
    if (!is_read(node, 1)) return;
    const std::int64_t axis = integer(node, "axis", 0);
    std::vector<std::string> lengths;
    for (const std::string& input : node.input()) {
      const std::string length = node.output(1) + "/" + std::to_string(lengths.size());
      onnx::NodeProto& shape = add_new(length, "Shape", {input}, length);
      *shape.add_attribute() = onnx::MakeAttribute("start", axis);
      if (axis != -1) *shape.add_attribute() = onnx::MakeAttribute("end", axis + 1);
      lengths.push_back(length);
    }
    *add_new(node.output(1), "Concat", lengths, node.output(1)).add_attribute() =
        onnx::MakeAttribute("axis", std::int64_t{0});
  }

  // Its last input: the label that does not count.
  void write_loss(const onnx::NodeProto& node) {
    onnx::NodeProto& loss = add_like(node, "SoftmaxCrossEntropyLoss", 3, 2);
    if (const std::optional<std::int64_t> ignored = stored_number(input_of(node, 3)))
      *loss.add_attribute() = onnx::MakeAttribute("ignore_index", *ignored);
  }

  std::optional<std::int64_t> stored_number(const std::string& name) const {
    for (const auto& tensor : graph_.initializer()) {
      if (tensor.name() != name) continue;
      const std::shared_ptr<const Value> value = read_value(tensor, model_.folder);
      if (value != nullptr && value->ints.size() == 1) return value->ints[0];
    }
    return std::nullopt;
  }

  // Beside the running statistics it saves those of the batch, for its gradient.
  void write_normalization(const onnx::NodeProto& node) {
    if (is_read(node, 3) || is_read(node, 4)) return void(*graph_.add_node() = node);
    onnx::NodeProto& added = add_like(node, "BatchNormalization", 5, 3);
    if (find_attribute(node, "training_mode") == nullptr)
      *added.add_attribute() = onnx::MakeAttribute("training_mode", std::int64_t{1});
  }

  // Masks of bits have a shape of their own: what reads one keeps the op as it is. With a bias the
  // inputs are data, bias, residual, ratio and training mode; without, data, ratio and mode.
  void write_dropout(const onnx::NodeProto& node) {
    if (is_read(node, 1)) return void(*graph_.add_node() = node);
    if (node.op_type() == "BitmaskDropout") return void(add_like(node, "Dropout", 3, 1));
    const std::string &name = given_name(node), &result = node.output(0);
    const std::string biased = result + "/biased", residual = input_of(node, 2);
    const std::string dropped = residual.empty() ? result : result + "/dropped";
    add_new(name + "/bias", "Add", {input_of(node, 0), input_of(node, 1)}, biased);
    std::vector<std::string> inputs = {biased, input_of(node, 3), input_of(node, 4)};
    while (inputs.back().empty()) inputs.pop_back();
    add_new(name, "Dropout", inputs, dropped);
    if (!residual.empty()) add_new(name + "/residual", "Add", {dropped, residual}, result);
  }

  void write_aten(const onnx::NodeProto& node) {
    const onnx::AttributeProto* called = find_attribute(node, "operator");
    const bool embeds = called != nullptr && called->s() == "embedding" && node.input_size() >= 2;
    if (!embeds) return void(*graph_.add_node() = node);
    add_like(node, "Gather", 2, 1).clear_attribute();
  }

  Model& model_;
  onnx::GraphProto& graph_;
  std::unordered_set<std::string> read_;  // by some op, or by whoever asks for a result
};

}  // namespace

void write_plain_forms(Model& model) { PlainForms(model).run(); }

}  // namespace strato::onnx_import
