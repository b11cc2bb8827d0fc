#include "plugins/importers/onnx/read/newer_fields.h"

#include "plugins/importers/onnx/read/node_view.h"

namespace strato::onnx_import {
namespace {

constexpr int kFunctionAttributes = 11, kFunctionOverload = 13, kNodeOverload = 8;

// `use` gets the content of each such field.
template <class Use>
void each_field(const google::protobuf::Message& message, int number, const Use& use) {
  const auto& fields = message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    const bool wanted = field.number() == number &&
                        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (wanted) use(field.length_delimited());
  }
}

std::string text_of(const google::protobuf::Message& message, int number) {
  std::string text;
  each_field(message, number, [&](const std::string& content) { text = content; });
  return text;
}

}  // namespace

onnx::NodeProto with_defaults(const onnx::NodeProto& call, const onnx::FunctionProto& function) {
  onnx::NodeProto whole = call;
  each_field(function, kFunctionAttributes, [&](const std::string& content) {
    onnx::AttributeProto attribute;
    if (attribute.ParseFromString(content) && find_attribute(call, attribute.name()) == nullptr)
      *whole.add_attribute() = attribute;
  });
  return whole;
}

std::size_t default_bytes(const onnx::FunctionProto& function) {
  std::size_t bytes = 0;
  each_field(function, kFunctionAttributes,
             [&](const std::string& content) { bytes += content.size(); });
  return bytes;
}

std::string overload_of(const onnx::FunctionProto& function) {
  return text_of(function, kFunctionOverload);
}

std::string overload_of(const onnx::NodeProto& call) { return text_of(call, kNodeOverload); }

}  // namespace strato::onnx_import
