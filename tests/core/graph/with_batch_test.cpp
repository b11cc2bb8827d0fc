// A model on another batch equals the model that was built for it.
#include <gtest/gtest.h>

#include "core/graph/build/copy_graph.h"
#include "core/graph/train/training_graph.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

// Two layers, the second over a reshaped tensor; a table of positions that is the same for all.
Graph small_model(std::int64_t batch) {
  ModelKit kit(batch);
  const TensorId x = kit.input("x", {batch, 6});
  const TensorId h = kit.op("MatMul", {x, kit.weight("w0", {6, 8})});
  const TensorId r = kit.op("Relu", {h});
  kit.op("MatMul", {r, kit.weight("w1", {8, 4})});
  return std::move(kit.builder).build();
}

TEST(WithBatch, EqualsTheModelBuiltForIt) {
  for (const std::int64_t batch : {1, 3, 16, 4096}) {
    EXPECT_EQ(with_batch(small_model(16), batch).digest(), small_model(batch).digest()) << batch;
  }
}

TEST(WithBatch, OfATrainingGraphKeepsEveryId) {
  const Graph before = make_training_graph(small_model(16), Optimizer::Adam);
  const Graph after = with_batch(before, 48);
  EXPECT_EQ(after.digest(), make_training_graph(small_model(48), Optimizer::Adam).digest());
  ASSERT_EQ(after.op_count(), before.op_count());
  for (std::size_t i = 0; i < before.op_count(); ++i) {
    EXPECT_EQ(after.op(OpId(i)).name, before.op(OpId(i)).name);
    EXPECT_EQ(after.op(OpId(i)).split, before.op(OpId(i)).split);
  }
  EXPECT_EQ(after.parameter_bytes(), before.parameter_bytes());
  EXPECT_EQ(with_batch(after, 16).digest(), before.digest());  // and back
}

TEST(WithBatch, RefusesWhatCannotBe) {
  const Graph graph = small_model(16);
  EXPECT_THROW(with_batch(graph, 0), InputError);
  EXPECT_THROW(with_batch(graph, -16), InputError);
  EXPECT_THROW(with_batch(graph, std::int64_t{1} << 62), InputError);
}

TEST(WithBatch, AnotherInputOfThatExtentIsNotTakenForSamples) {
  ModelKit kit(16);
  const TensorId x = kit.input("x", {16, 8});
  const TensorId table = kit.input("table", {32, 8});  // 32 is no batch here
  kit.op("MatMul", {x, kit.weight("w", {8, 8})});
  kit.op("Relu", {table});
  const Graph graph = std::move(kit.builder).build();
  EXPECT_NO_THROW(with_batch(graph, 31));
  EXPECT_THROW(with_batch(graph, 32), InputError);
}

}  // namespace
}  // namespace strato
