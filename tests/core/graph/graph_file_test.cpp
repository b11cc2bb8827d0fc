#include "core/graph/build/graph_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/train/optimizer.h"
#include "core/graph/train/training_graph.h"
#include "core/graph/value/graph.h"

namespace strato {
namespace {

Tensor made(std::string name, TensorRole role, Shape shape) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.role = role;
  tensor.shape = std::move(shape);
  return tensor;
}

Op op(std::string name, std::string type, std::vector<TensorId> inputs,
      std::vector<TensorId> outputs) {
  Op result;
  result.name = std::move(name);
  result.type = std::move(type);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

// y = relu(x w) viewed as another shape: every kind of attribute, a constant with data, a left-out
// input.
Graph small_graph() {
  GraphBuilder builder("small", 4, "small.onnx");
  const TensorId x = builder.add_tensor(made("x", TensorRole::Input, {4, 8}));
  const TensorId w = builder.add_tensor(made("w", TensorRole::Parameter, {8, 6}));
  const TensorId h = builder.add_tensor(made("h", TensorRole::Activation, {4, 6}));
  const TensorId r = builder.add_tensor(made("r", TensorRole::Activation, {4, 6}));
  const TensorId y = builder.add_tensor(made("y", TensorRole::Activation, {4, 2, 3}));
  Tensor target = made("target", TensorRole::Constant, {3});
  target.type = DataType::I64;
  target.data = std::make_shared<const std::string>(24, '\1');
  const TensorId shape = builder.add_tensor(std::move(target));
  Op product = op("product", "Gemm", {x, w, TensorId()}, {h});
  product.attributes = {{"alpha", 1.0},
                        {"ints", std::vector<std::int64_t>{1, -2}},
                        {"reals", std::vector<double>{0.5}},
                        {"text", std::string("a\0b", 3)},
                        {"transA", std::int64_t{0}}};
  builder.add_op(std::move(product));
  builder.add_op(op("relu", "Relu", {h}, {r}));
  builder.add_op(op("view", "Reshape", {r, shape}, {y}));
  return std::move(builder).build();
}

void expect_equal(const Graph& a, const Graph& b) {
  EXPECT_EQ(a.digest(), b.digest());
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.batch(), b.batch());
  ASSERT_EQ(a.op_count(), b.op_count());
  for (std::size_t i = 0; i < a.op_count(); ++i) {
    EXPECT_EQ(a.op(OpId(i)).name, b.op(OpId(i)).name);
    EXPECT_EQ(a.op(OpId(i)).attributes, b.op(OpId(i)).attributes);
    EXPECT_EQ(a.op(OpId(i)).split, b.op(OpId(i)).split);
    EXPECT_EQ(a.op(OpId(i)).work.flops, b.op(OpId(i)).work.flops);
  }
}

TEST(GraphFile, KeepsAForwardGraph) {
  const Graph graph = small_graph();
  expect_equal(graph, parse_graph(serialise(graph), "t"));
}

TEST(GraphFile, KeepsATrainingGraph) {
  const Graph graph = make_training_graph(small_graph(), Optimizer::Adam);
  const Graph again = parse_graph(serialise(graph), "t");
  expect_equal(graph, again);
  EXPECT_TRUE(again.is_training());
}

TEST(GraphFile, WritesTheSameBytesTwice) {
  const std::string bytes = serialise(small_graph());
  EXPECT_EQ(bytes, serialise(parse_graph(bytes, "t")));
}

TEST(GraphFile, RefusesEveryTruncation) {
  const std::string bytes = serialise(small_graph());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_graph(bytes.substr(0, size), "t"), InputError) << size;
  }
  EXPECT_THROW(parse_graph(bytes + "x", "t"), InputError);
}

TEST(GraphFile, RefusesEveryChangedByte) {
  const std::string bytes = serialise(small_graph());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_THROW(parse_graph(damaged, "t"), InputError) << at;
  }
}

TEST(GraphFile, SaysWhatIsWrong) {
  std::string bytes = serialise(small_graph());
  try {
    parse_graph("hello", "m.strata");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "m.strata: is not a stored graph; import the model again");
  }
  bytes[8] = 9;
  try {
    parse_graph(bytes, "m.strata");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.problem(), "is a graph of format version 9");
  }
}

// Someone who mends the check sum gets no further than an error either.
TEST(GraphFile, SurvivesForgedContent) {
  const std::string bytes = serialise(small_graph());
  constexpr std::size_t head = 8 + 4 + 16;
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string content = bytes.substr(head);
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      content[random.below(content.size())] = static_cast<char>(random.below(256));
    }
    const Digest check = digest_of(content);
    std::string forged = bytes.substr(0, 12);
    forged.append(reinterpret_cast<const char*>(&check.high), 8);
    forged.append(reinterpret_cast<const char*>(&check.low), 8);
    try {
      parse_graph(forged + content, "t");
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace strato
