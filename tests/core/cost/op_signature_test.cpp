// Signatures: equal for equal ops of any model at any batch size, different where the work differs.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "core/cost/value/profile.h"
#include "core/graph/build/graph_builder.h"
#include "tests/core/cost/random_graph.h"
#include "tests/core/cost/toy.h"

namespace strato {
namespace {

std::vector<std::string> signatures_of(const Graph& graph) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < graph.op_count(); ++i) {
    result.push_back(op_signature(graph, OpId(i)));
  }
  return result;
}

TEST(OpSignature, ReadsLikeTheOp) {
  const auto graph = toy::chain(1, 64, 1024);
  EXPECT_EQ(op_signature(*graph, graph->find_op("m0")),
            "MatMul(float32[B,1024],float32[1024,1024])->(float32[B,1024])");
  EXPECT_EQ(op_signature(*graph, graph->find_op("r0")), "Relu(float32[B,1024])->(float32[B,1024])");
}

TEST(OpSignature, LeavesOutTheBatchSize) {
  EXPECT_EQ(signatures_of(*toy::chain(3, 8)), signatures_of(*toy::chain(3, 1000)));
}

TEST(OpSignature, TellsAWidthThatEqualsTheBatchFromTheBatch) {
  EXPECT_EQ(signatures_of(*toy::chain(1, 1024)), signatures_of(*toy::chain(1, 3)));
}

TEST(OpSignature, DependsOnShapes) {
  const auto narrow = toy::chain(1, 64, 512), wide = toy::chain(1, 64, 1024);
  EXPECT_NE(op_signature(*narrow, OpId(0)), op_signature(*wide, OpId(0)));
}

TEST(OpSignature, OfRandomGraphsDoesNotDependOnTheBatchSize) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const auto a = *rc::gen::inRange<std::int64_t>(1, 200);
    const auto b = *rc::gen::inRange<std::int64_t>(1, 200);
    RC_ASSERT(signatures_of(toy::random_graph(seed, a)) ==
              signatures_of(toy::random_graph(seed, b)));
  }));
}

// Equal signatures: equal family, and equal work per sample.
TEST(OpSignature, TellsOpsOfDifferentWorkApart) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const Graph graph = toy::random_graph(seed, 16);
    std::map<std::string, const Op*> seen;
    for (std::size_t i = 0; i < graph.op_count(); ++i) {
      const Op& op = graph.op(OpId(i));
      const auto [found, fresh] = seen.emplace(op_signature(graph, OpId(i)), &op);
      if (fresh) continue;
      RC_ASSERT(found->second->family == op.family);
      RC_ASSERT(found->second->work.flops == op.work.flops);
      RC_ASSERT(found->second->work.batch_bytes == op.work.batch_bytes);
      RC_ASSERT(found->second->work.fixed_bytes == op.work.fixed_bytes);
    }
  }));
}

Graph one_op(std::string type, std::vector<std::pair<std::string, Attribute>> attributes) {
  GraphBuilder builder("one", 4);
  Tensor in;
  in.name = "x";
  in.role = TensorRole::Input;
  in.shape = {4, 8};
  Tensor out = in;
  out.name = "y";
  out.role = TensorRole::Activation;
  Op op;
  op.name = "op";
  op.type = std::move(type);
  op.attributes = std::move(attributes);
  op.inputs = {builder.add_tensor(in), TensorId()};
  op.outputs = {builder.add_tensor(out)};
  builder.add_op(op);
  return std::move(builder).build();
}

TEST(OpSignature, HoldsWholeAttributesAndLeavesOutRealOnes) {
  const Graph graph = one_op("Odd", {{"axis", std::int64_t{-1}},
                                     {"epsilon", 1e-5},
                                     {"mode", std::string("reflect")},
                                     {"pads", std::vector<std::int64_t>{1, 2}}});
  EXPECT_EQ(op_signature(graph, OpId(0)),
            "Odd{axis=-1,mode=reflect,pads=1x2}(float32[B,8],-)->(float32[B,8])");
}

TEST(OpSignature, IsPlainTextWhateverTheModelSays) {
  const Graph graph = one_op("O(d}d\xff\n", {{"m\"de", std::string("a\0b{", 4)}});
  EXPECT_EQ(op_signature(graph, OpId(0)), "O_d_d__{m_de=a_b_}(float32[B,8],-)->(float32[B,8])");
}

TEST(FollowsBatch, IsWhatTheSignatureShows) {
  EXPECT_TRUE(rc::check([] {
    const Graph graph = toy::random_graph(*rc::gen::arbitrary<std::uint32_t>(), 24);
    for (std::size_t i = 0; i < graph.op_count(); ++i) {
      const std::string signature = op_signature(graph, OpId(i));
      const bool shows = signature.find("[B") != std::string::npos ||
                         signature.find(",B") != std::string::npos ||
                         signature.find("*B") != std::string::npos;
      RC_ASSERT(follows_batch(graph, OpId(i)) == shows);
    }
  }));
}

}  // namespace
}  // namespace strato
