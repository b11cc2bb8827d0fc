// What a translation has so far: tensors and lists by name, and what writing bodies out takes.
#include "plugins/importers/onnx/scope/scope.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace strato::onnx_import {
namespace {

onnx::NodeProto node_of(const std::string& type, const std::vector<std::string>& inputs = {}) {
  onnx::NodeProto node;
  node.set_op_type(type);
  for (const std::string& input : inputs) node.add_input(input);
  return node;
}

class TensorsTest : public ::testing::Test {
 protected:
  Model model;
  Uses uses{model.proto.graph()};
  Tensors tensors{model, uses};
};

TEST_F(TensorsTest, AreFoundUnderEveryName) {
  Entry& made = tensors.add("a", TensorRole::Activation, {DataType::F32, {2, 3}, nullptr});
  tensors.give_name(node_of("Identity"), "a", "b");
  EXPECT_EQ(tensors.find("b"), &made);
  EXPECT_EQ(tensors.name_of(made), "a");
  EXPECT_EQ(tensors.find("c"), nullptr);
  EXPECT_THROW(tensors.give_name(node_of("Identity"), "c", "d"), InputError);
}

TEST_F(TensorsTest, RefuseASecondOneAndImpossibleExtents) {
  tensors.add("a", TensorRole::Activation, {DataType::F32, {2}, nullptr});
  EXPECT_THROW(tensors.add("a", TensorRole::Activation, {DataType::F32, {2}, nullptr}), InputError);
  EXPECT_THROW(tensors.add("b", TensorRole::Activation, {DataType::F32, {-2}, nullptr}),
               InputError);
}

TEST_F(TensorsTest, KnowNumbersThatAreAlone) {
  tensors.add_value("one", scalar(DataType::I64, 7));
  tensors.add_value("two", integers({1, 2}));
  tensors.add_value("real", scalar(DataType::F32, 7));
  EXPECT_EQ(tensors.known_number("one"), 7);
  EXPECT_EQ(tensors.known_number("two"), std::nullopt);
  EXPECT_EQ(tensors.known_number("real"), std::nullopt);
  EXPECT_EQ(tensors.known_elements(), 4u);
}

TEST_F(TensorsTest, ASubstituteHidesNothing) {
  Entry& made = tensors.add("a", TensorRole::Constant, known(integers({1})));
  Entry& other = tensors.add_substitute({"a", TensorRole::Constant, known(integers({2}))});
  EXPECT_NE(&made, &other);
  EXPECT_EQ(tensors.find("a"), &made);
}

TEST_F(TensorsTest, ListsAreNoInputsOfOtherOps) {
  Entry& made = tensors.add("a", TensorRole::Activation, {DataType::F32, {2}, nullptr});
  const onnx::NodeProto node = node_of("SequenceConstruct", {"a", ""});
  tensors.add_list(node, "list", {&made, &made});
  EXPECT_TRUE(tensors.exists("list"));
  EXPECT_EQ(tensors.list_at(node_of("SequenceAt", {"list"}), 0).size(), 2u);
  EXPECT_EQ(tensors.inputs_of(node), (Entries{&made, nullptr}));
  EXPECT_THROW(tensors.inputs_of(node_of("Add", {"list"})), InputError);
  EXPECT_THROW(tensors.list_at(node, 0), InputError);
  EXPECT_THROW(tensors.add_list(node, "other", {nullptr}), InputError);
}

TEST_F(TensorsTest, ResultsOfTheGraphAreTensorsAndListsInItsOrder) {
  Entry& a = tensors.add("a", TensorRole::Activation, {DataType::F32, {2}, nullptr});
  Entry& b = tensors.add("b", TensorRole::Activation, {DataType::F32, {2}, nullptr});
  tensors.add_list(node_of("SequenceConstruct"), "list", {&b, &b});
  onnx::GraphProto graph;
  graph.add_output()->set_name("list");
  graph.add_output()->set_name("a");
  const Translation translation = std::move(tensors).finish(graph, {});
  EXPECT_EQ(translation.results, (Entries{&b, &b, &a}));
}

TEST(Expansion, NamesAreOfTheNodeOrOfTypeAndNumber) {
  Expansion expansion("model.onnx");
  onnx::NodeProto node = node_of("Loop");
  expansion.count(node);
  expansion.count(node);
  EXPECT_EQ(expansion.name_of(node), "Loop_1");
  node.set_name("mine");
  EXPECT_EQ(expansion.name_of(node), "mine");
  EXPECT_EQ(expansion.prefix_for(node), "mine");
  EXPECT_EQ(expansion.prefix_for(node), "mine_2") << "prefixes do not repeat";
}

TEST(Expansion, StopsAtItsLimits) {
  Expansion expansion("model.onnx");
  const onnx::NodeProto node = node_of("If");
  EXPECT_FALSE(expansion.inside());
  for (int i = 0; i < 32; ++i) expansion.enter(node);
  EXPECT_TRUE(expansion.inside());
  EXPECT_THROW(expansion.enter(node), InputError);
  expansion.charge(node, 500'000);
  EXPECT_THROW(expansion.charge(node, 1), InputError);
}

}  // namespace
}  // namespace strato::onnx_import
