#include "core/graph/axes/batch_stop.h"

#include <gtest/gtest.h>

#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

// A product, and another one behind a softmax over the samples.
Graph two_products(std::int64_t batch, std::int64_t columns, std::int64_t inner = 8) {
  ModelKit kit(batch);
  const TensorId x =
      kit.op("MatMul", {kit.input("x", {batch, inner}), kit.weight("a", {inner, 8})});
  const TensorId over = kit.op("Softmax", {x}, {{"axis", std::int64_t{0}}});
  const TensorId relu = kit.op("Relu", {over});
  kit.op("MatMul", {relu, kit.weight("b", {8, columns})});
  return kit.build();
}

TEST(BatchStop, IsTheFirstOpBehindWhichMostWorkIsWhole) {
  const Graph graph = two_products(4, 24);
  const std::optional<BatchStop> stop = batch_stop(graph);
  ASSERT_TRUE(stop);
  EXPECT_EQ(graph.op(stop->op).type, "Softmax");
  EXPECT_NEAR(stop->share, 0.8, 0.05);
  EXPECT_EQ(describe_batch_stop(graph).substr(3),
            "% of the work cannot be divided by samples: they are no longer apart behind op "
            "\"Softmax1\" (Softmax)");
}

TEST(BatchStop, IsThereOnlyWhereThereAreSamplesToDivide) {
  EXPECT_FALSE(batch_stop(two_products(1, 24)));
  ModelKit kit(4);
  kit.op("MatMul", {kit.input("x", {4, 8}), kit.weight("w", {8, 8})});
  kit.op("Relu", {kit.weight("v", {8, 8})});  // is the same for all samples
  EXPECT_FALSE(batch_stop(kit.build()));
}

TEST(BatchStop, IsNotToldOfALittleWork) {
  const Graph graph = two_products(4, 8, 800);
  EXPECT_TRUE(batch_stop(graph));
  EXPECT_EQ(describe_batch_stop(graph), "");
}

}  // namespace
}  // namespace strato
