#include "core/graph/axes/expert_letters.h"

#include <gtest/gtest.h>

#include <set>

#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

constexpr std::int64_t kMoeSamples = 2, kMoeTokens = 6, kMoeSize = 4, kMoeExperts = 3, kMoeRoom = 2;

// A router before two mixtures; the second one's weights are cast.
Graph two_mixtures() {
  ModelKit kit(kMoeSamples);
  TensorId x = kit.op("Mul", {kit.input("x", {kMoeSamples, kMoeTokens, kMoeSize}),
                              kit.weight("scale", {kMoeSize})});
  const TensorId chosen = kit.input("chosen", {kMoeSamples, kMoeTokens, 1}, DataType::I64);
  for (const bool casts : {false, true}) {
    const TensorId scores =
        kit.op("MatMul", {x, kit.weight(casts ? "router1" : "router0", {kMoeSize, 1})});
    const TensorId sent =
        kit.op("DispatchTokens", {x, chosen},
               {{"capacity", Attribute(kMoeRoom)}, {"experts", Attribute(kMoeExperts)}});
    TensorId weight = kit.weight(casts ? "cast" : "plain", {kMoeExperts, kMoeSize, kMoeSize});
    if (casts) weight = kit.op("Identity", {weight});
    const TensorId made = kit.op("Relu", {kit.op("MatMul", {sent, weight})});
    x = kit.op("CombineTokens", {made, chosen, scores});
  }
  return make_training_graph(kit.build(), Optimizer::Adam);
}

std::set<std::string> types_of_experts(const Graph& graph) {
  const ExpertSplits splits = expert_splits(graph);
  std::set<std::string> types;
  for (const OpId op : graph.ops().ids())
    if (splits[op] != kNoExperts) types.insert(graph.op(op).type);
  return types;
}

TEST(ExpertSplits, AreThoseBetweenDispatchAndCombination) {
  const Graph graph = two_mixtures();
  const std::set<std::string> types = types_of_experts(graph);
  for (const char* type : {"MatMul", "Relu", "Identity", "MatMulGradA", "MatMulGradB"})
    EXPECT_TRUE(types.contains(type)) << type;
  for (const std::string& type : types)
    EXPECT_TRUE(type.find("Dispatch") == std::string::npos &&
                type.find("Combine") == std::string::npos)
        << type;
}

// Every output, and every gradient and update of an expert's parameter, is divided by experts.
TEST(ExpertSplits, DivideWhatExpertsMakeAndKeep) {
  const Graph graph = two_mixtures();
  const ExpertSplits splits = expert_splits(graph);
  int updates = 0;
  for (const OpId id : graph.ops().ids()) {
    const Op& op = graph.op(id);
    const bool of_expert = splits[id] != kNoExperts;
    if (op.phase == Phase::Update) {
      const std::string& parameter = graph.tensor(op.inputs[0]).name;
      EXPECT_EQ(of_expert, parameter == "plain" || parameter == "cast") << parameter;
      updates += of_expert;
    }
    if (!of_expert) continue;
    const LetterSplit split = letter_splits(graph, id)[static_cast<std::size_t>(splits[id])];
    EXPECT_EQ(split.extent, kMoeExperts) << op.name;
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      ASSERT_GE(split.outputs[o], 0) << op.name;
      EXPECT_EQ(graph.tensor(op.outputs[o]).shape[static_cast<std::size_t>(split.outputs[o])],
                kMoeExperts)
          << op.name;
    }
  }
  EXPECT_EQ(updates, 2);
}

TEST(ExpertSplits, OfRoutersThereAreNone) {
  const Graph graph = two_mixtures();
  const ExpertSplits splits = expert_splits(graph);
  for (const OpId id : graph.ops().ids())
    for (const TensorId input : graph.op(id).inputs) {
      const bool routes = input.valid() && graph.tensor(input).name.starts_with("router");
      EXPECT_TRUE(!routes || splits[id] == kNoExperts) << graph.op(id).name;
    }
}

TEST(ExpertSplits, AreCounted) {
  EXPECT_EQ(experts_of(two_mixtures()), kMoeExperts);
  ModelKit kit(kMoeSamples);
  kit.op("Relu", {kit.input("x", {kMoeSamples, kMoeSize})});
  const Graph without = kit.build();
  EXPECT_EQ(experts_of(without), 0);
  EXPECT_TRUE(types_of_experts(without).empty());
}

}  // namespace
}  // namespace strato
