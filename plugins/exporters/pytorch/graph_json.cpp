#include "plugins/exporters/pytorch/graph_json.h"

#include <array>
#include <string>
#include <string_view>
#include <variant>

#include "core/graph/train/initial_value.h"

namespace strato::pytorch_export {
namespace {

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const bool there = i + k < bytes.size();
      three = three << 8 | (there ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

const char* word_of(TensorRole role) {
  static constexpr std::array kWords = {"input", "parameter", "constant", "state", "made", "made"};
  static_assert(kWords.size() == static_cast<std::size_t>(TensorRole::Gradient) + 1);
  return kWords[static_cast<std::size_t>(role)];
}

const char* word_of(InitialValue::Kind kind) {
  static constexpr std::array kWords = {"data", "fill", "uniform", "integers"};
  return kWords[static_cast<std::size_t>(kind)];
}

Json tensor_json(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  Json json{{"name", tensor.name},
            {"type", name_of(tensor.type)},
            {"role", word_of(tensor.role)},
            {"shape", tensor.shape}};
  if (tensor.batch.kind == BatchKind::Batched) {
    json["batch_axis"] = tensor.batch.axis;
    json["blocks"] = tensor.batch.blocks;
  }
  if (!tensor.producer.valid()) {
    const InitialValue value = initial_value(graph, id);
    json["initial"] = {word_of(value.kind), value.low, value.high};
  }
  if (tensor.data) json["data"] = base64(*tensor.data);
  return json;
}

Json op_json(const Op& op) {
  Json json{{"name", op.name},
            {"type", op.type},
            {"inputs", numbers_of(op.inputs)},
            {"outputs", numbers_of(op.outputs)}};
  for (const auto& [name, value] : op.attributes)
    std::visit([&, key = name](const auto& plain) { json["attributes"][key] = plain; }, value);
  if (op.forward.valid()) json["forward"] = op.forward.value();
  return json;
}

}  // namespace

Json graph_json(const Graph& graph) {
  Json json{{"name", graph.name()}, {"batch", graph.batch()}, {"training", graph.is_training()}};
  json["tensors"] = json["ops"] = Json::array();
  for (std::size_t i = 0; i < graph.tensor_count(); ++i)
    json["tensors"].push_back(tensor_json(graph, TensorId(i)));
  for (const Op& op : graph.ops()) json["ops"].push_back(op_json(op));
  return json;
}

}  // namespace strato::pytorch_export
