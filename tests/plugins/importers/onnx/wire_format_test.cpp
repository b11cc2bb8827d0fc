// Payloads that are left out of a serialised model, and where the copy says that they are.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "plugins/importers/onnx/read/read_model.h"

namespace strato::onnx_import {
namespace {

onnx::ModelProto model_with(const std::string& data) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  onnx::TensorProto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name("weight");
  tensor->set_raw_data(data);
  return model;
}

onnx::ModelProto rewritten(const std::string& bytes, std::size_t limit) {
  const std::optional<std::string> copy = without_payloads(bytes, limit);
  onnx::ModelProto model;
  EXPECT_TRUE(copy.has_value() && model.ParseFromString(*copy));
  return model;
}

TEST(WireFormat, ShortPayloadsStay) {
  const std::string bytes = model_with("elements").SerializeAsString();
  EXPECT_EQ(without_payloads(bytes, 100), bytes);
}

TEST(WireFormat, ALongPayloadGivesWayToItsPlace) {
  const std::string data(300, 'x'), bytes = model_with(data).SerializeAsString();
  const onnx::TensorProto tensor = rewritten(bytes, 100).graph().initializer(0);
  EXPECT_EQ(tensor.name(), "weight");
  EXPECT_FALSE(tensor.has_raw_data());
  ASSERT_EQ(tensor.external_data_size(), 1);
  EXPECT_EQ(tensor.external_data(0).key(), kPayloadKey);
  EXPECT_EQ(tensor.external_data(0).value(), fmt::format("9 {} 300", bytes.find(data)));
}

TEST(WireFormat, DataInTwoFieldsHaveNoPlace) {
  onnx::ModelProto model = model_with(std::string(300, 'x'));
  for (int i = 0; i < 100; ++i) model.mutable_graph()->mutable_initializer(0)->add_float_data(1);
  const onnx::TensorProto tensor = rewritten(model.SerializeAsString(), 100).graph().initializer(0);
  EXPECT_EQ(tensor.external_data_size(), 0);
  EXPECT_EQ(tensor.float_data_size(), 0);
}

TEST(WireFormat, PayloadsInsideOfNodesAreFound) {
  onnx::ModelProto model = model_with("");
  onnx::NodeProto* node = model.mutable_graph()->add_node();
  node->add_attribute()->mutable_t()->set_raw_data(std::string(300, 'x'));
  const onnx::ModelProto copy = rewritten(model.SerializeAsString(), 100);
  EXPECT_EQ(copy.graph().node(0).attribute(0).t().external_data_size(), 1);
}

TEST(WireFormat, DamagedBytesAreNoModel) {
  const std::string bytes = model_with(std::string(300, 'x')).SerializeAsString();
  EXPECT_FALSE(without_payloads(bytes.substr(0, bytes.size() - 1), 100));
  EXPECT_FALSE(without_payloads("\x07", 100));
}

TEST(WireFormat, NumbersOfVaryingLengthAreReadOneByOne) {
  const std::string bytes("\x05\xac\x02\x80", 4);
  std::size_t at = 0;
  std::uint64_t number = 0;
  ASSERT_TRUE(read_varint(bytes, at, number));
  EXPECT_EQ(number, 5u);
  ASSERT_TRUE(read_varint(bytes, at, number));
  EXPECT_EQ(number, 300u);
  EXPECT_FALSE(read_varint(bytes, at, number)) << "its last byte is missing";
  EXPECT_EQ(at, 3u);
}

}  // namespace
}  // namespace strato::onnx_import
