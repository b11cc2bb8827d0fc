#include "plugins/importers/onnx/read/node_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {
namespace {

std::optional<Attribute> converted(const onnx::AttributeProto& attribute) {
  if (attribute.has_t()) {
    const std::shared_ptr<const Value> value = read_value(attribute.t(), {});
    if (value == nullptr || value->size() != 1) return std::nullopt;
    return value->floating() ? Attribute(value->reals[0]) : Attribute(value->ints[0]);
  }
  if (attribute.has_g() || attribute.tensors_size() > 0 || attribute.graphs_size() > 0)
    return std::nullopt;
  if (attribute.ints_size() > 0)
    return std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end());
  if (attribute.floats_size() > 0)
    return std::vector<double>(attribute.floats().begin(), attribute.floats().end());
  if (attribute.strings_size() > 0) {
    std::string joined;
    for (const std::string& text : attribute.strings())
      joined += (joined.empty() ? "" : ",") + text;
    return Attribute(joined);
  }
  if (attribute.has_s()) return Attribute(attribute.s());
  if (attribute.has_f()) return Attribute(static_cast<double>(attribute.f()));
  if (attribute.has_i()) return Attribute(static_cast<std::int64_t>(attribute.i()));
  if (attribute.type() == onnx::AttributeProto::INTS) return Attribute(std::vector<std::int64_t>());
  return std::nullopt;
}

constexpr int kFunctionAttributes = 11, kFunctionOverload = 13, kNodeOverload = 8,
              kNodeMetadata = 9;

// The contents of these fields, which protobuf does not know.
std::vector<std::string> unknown_fields(const google::protobuf::Message& message, int number) {
  const auto& fields = message.GetReflection()->GetUnknownFields(message);
  std::vector<std::string> contents;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    const bool wanted = field.number() == number &&
                        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (wanted) contents.push_back(field.length_delimited());
  }
  return contents;
}

// The texts of a list as Python shows it: "['', 'layers.0', 'linear_3']".
std::vector<std::string> python_texts(std::string_view list) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char quote = list[at];
    if (quote != '\'' && quote != '"') continue;
    std::string text;
    for (++at; at < list.size() && list[at] != quote; ++at) {
      if (list[at] == '\\' && at + 1 < list.size()) ++at;
      text += list[at];
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  const auto found = std::ranges::find(node.attribute(), name, &onnx::AttributeProto::name);
  return found != node.attribute().end() ? &*found : nullptr;
}

std::int64_t integer(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback) {
  const onnx::AttributeProto* attribute = find_attribute(node, name);
  return attribute != nullptr && attribute->has_i() ? attribute->i() : fallback;
}

std::optional<std::vector<std::int64_t>> integer_list(const onnx::NodeProto& node,
                                                      std::string_view name) {
  const onnx::AttributeProto* attribute = find_attribute(node, name);
  if (attribute == nullptr) return std::nullopt;
  return std::vector<std::int64_t>(attribute->ints().begin(), attribute->ints().end());
}

bool has_input(const onnx::NodeProto& node, int slot) { return !input_of(node, slot).empty(); }

std::string input_of(const onnx::NodeProto& node, int slot) {
  return slot < node.input_size() ? node.input(slot) : std::string();
}

std::int64_t listed(const onnx::NodeProto& node, std::string_view name, int i) {
  const auto list = integer_list(node, name);
  return list && i < static_cast<int>(list->size()) ? (*list)[static_cast<std::size_t>(i)] : 0;
}

std::vector<std::pair<std::string, Attribute>> attributes_of(const onnx::NodeProto& node) {
  std::vector<std::pair<std::string, Attribute>> result;
  for (const auto& attribute : node.attribute())
    if (std::optional<Attribute> value = converted(attribute))
      result.emplace_back(attribute.name(), std::move(*value));
  std::ranges::stable_sort(result, {}, &std::pair<std::string, Attribute>::first);
  return result;
}

onnx::NodeProto with_defaults(const onnx::NodeProto& call, const onnx::FunctionProto& function) {
  onnx::NodeProto whole = call;
  for (const std::string& content : unknown_fields(function, kFunctionAttributes)) {
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(content) && find_attribute(call, attribute.name()) == nullptr)
      *whole.add_attribute() = attribute;
  }
  return whole;
}

std::size_t default_bytes(const onnx::FunctionProto& function) {
  std::size_t bytes = 0;
  for (const std::string& content : unknown_fields(function, kFunctionAttributes))
    bytes += content.size();
  return bytes;
}

// The list goes from the outermost module, each under its path from the model, to the node's own
// name.
std::string module_path(const onnx::NodeProto& node) {
  for (const std::string& content : unknown_fields(node, kNodeMetadata)) {
    onnx::StringStringEntryProto entry;
    if (!entry.ParseFromString(content) || entry.key() != "pkg.torch.onnx.name_scopes") continue;
    const std::vector<std::string> scopes = python_texts(entry.value());
    return scopes.size() < 2 ? std::string() : scopes[scopes.size() - 2];
  }
  return {};
}

std::string overload_of(const google::protobuf::Message& function_or_call) {
  const bool call = function_or_call.GetDescriptor() == onnx::NodeProto::descriptor();
  const std::vector<std::string> contents =
      unknown_fields(function_or_call, call ? kNodeOverload : kFunctionOverload);
  return contents.empty() ? std::string() : contents.back();
}

std::string given_name(const onnx::NodeProto& node) {
  return !node.name().empty() || node.output_size() == 0 ? node.name() : node.output(0);
}

// Names come from outside: what is no UTF-8 would break every file and window that shows it.
std::string graph_name(const std::string& name) { return shown_text(name); }

std::string label_of(const onnx::NodeProto& node) {
  return fmt::format("op \"{}\" ({})", given_name(node), node.op_type());
}

void refuse(const std::string& file, const onnx::NodeProto& node, const std::string& problem,
            const std::string& remedy) {
  throw InputError(file, label_of(node), problem, remedy);
}

}  // namespace strato::onnx_import
