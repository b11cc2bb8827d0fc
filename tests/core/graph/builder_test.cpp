#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <numeric>

#include "core/graph/build/graph_builder.h"
#include "tests/core/graph/model_kit.h"

namespace strato {
namespace {

Tensor activation(std::string name, Shape shape = {2}) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  return tensor;
}

Op make_op(std::string name, std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  Op op;
  op.name = std::move(name);
  op.type = "Relu";
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  return op;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(GraphBuilder, OrdersOpsThatWereInsertedBackwards) {
  GraphBuilder builder("g", 2);
  std::vector<TensorId> t;
  for (int i = 0; i < 4; ++i) t.push_back(builder.add_tensor(activation("t" + std::to_string(i))));
  builder.tensor(t[0]).role = TensorRole::Input;
  for (int i = 3; i >= 1; --i)
    builder.add_op(make_op("op" + std::to_string(i), {t[i - 1]}, {t[i]}));
  const Graph graph = std::move(builder).build();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(graph.op(OpId(i)).name, "op" + std::to_string(i + 1));
    EXPECT_EQ(graph.tensor(graph.op(OpId(i)).outputs[0]).producer, OpId(i));
  }
  EXPECT_EQ(graph.find_op("op2"), OpId(1));
  EXPECT_FALSE(graph.find_op("op9").valid());
}

TEST(GraphBuilder, KeepsInsertionOrderAmongReadyOps) {
  GraphBuilder builder("g", 2);
  const TensorId in = builder.add_tensor(activation("in"));
  builder.tensor(in).role = TensorRole::Input;
  for (const char* name : {"c", "a", "b"}) {
    const TensorId out = builder.add_tensor(activation(std::string("out_") + name));
    builder.add_op(make_op(name, {in, in}, {out}));
  }
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.op(OpId(0)).name, "c");
  EXPECT_EQ(graph.op(OpId(2)).name, "b");
  EXPECT_EQ(graph.consumers(in).size(), 3u);  // each once, although each reads it twice
  EXPECT_EQ(graph.consumers(in)[1], OpId(1));
}

TEST(GraphBuilder, NamesTheOpsOfACycle) {
  GraphBuilder builder("g", 2, "bad.onnx");
  const TensorId a = builder.add_tensor(activation("a")), b = builder.add_tensor(activation("b"));
  const TensorId c = builder.add_tensor(activation("c"));
  builder.add_op(make_op("first", {b}, {a}));
  builder.add_op(make_op("second", {a}, {b}));
  builder.add_op(make_op("behind", {b}, {c}));
  const std::string message = message_of([&] { std::move(builder).build(); });
  EXPECT_NE(message.find("bad.onnx"), std::string::npos) << message;
  EXPECT_NE(message.find("\"first\""), std::string::npos) << message;
  EXPECT_NE(message.find("\"second\""), std::string::npos) << message;
  EXPECT_EQ(message.find("behind"), std::string::npos) << message;
}

TEST(GraphBuilder, RejectsBadTensorsAndOps) {
  const auto with_shape = [](Shape shape) {
    GraphBuilder builder("g", 2, "f.onnx");
    builder.add_tensor(activation("t", std::move(shape)));
    return message_of([&] { std::move(builder).build(); });
  };
  EXPECT_NE(with_shape({2, -1}).find("negative extent -1"), std::string::npos);
  EXPECT_NE(with_shape({1 << 30, 1 << 30, 1 << 30}).find("1 PiB"), std::string::npos);
  EXPECT_EQ(with_shape({0, 5}), "");

  GraphBuilder twice("g", 2);
  const TensorId t = twice.add_tensor(activation("t"));
  twice.add_op(make_op("p", {}, {t}));
  twice.add_op(make_op("q", {}, {t}));
  EXPECT_NE(message_of([&] { std::move(twice).build(); }).find("made twice"), std::string::npos);

  GraphBuilder lacking("g", 2, "f.onnx");
  Op conv =
      make_op("conv", {lacking.add_tensor(activation("x"))}, {lacking.add_tensor(activation("y"))});
  conv.type = "Conv";
  lacking.add_op(conv);
  EXPECT_NE(message_of([&] { std::move(lacking).build(); }).find("Conv needs 2 inputs"),
            std::string::npos);

  EXPECT_NE(message_of([] { GraphBuilder("g", 0).build(); }).find("batch size 0"),
            std::string::npos);
}

TEST(GraphBuilder, MakesNamesUnique) {
  GraphBuilder builder("g", 2);
  const TensorId in = builder.add_tensor(activation("in"));
  builder.tensor(in).role = TensorRole::Input;
  for (const char* name : {"x", "x", "x_1", "", ""}) {
    builder.add_op(make_op(name, {in}, {builder.add_tensor(activation("t"))}));
  }
  const Graph graph = std::move(builder).build();
  std::vector<std::string> names;
  for (const Op& op : graph.ops()) names.push_back(op.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "x_1", "x_1_1", "Relu", "Relu_1"}));
  EXPECT_EQ(graph.find_op("x_1_1"), OpId(2));
}

TEST(GraphBuilder, DigestFollowsContent) {
  const auto digest = [](Shape shape, std::string type) {
    ModelKit kit(2);
    kit.op(std::move(type), {kit.input("x", std::move(shape))});
    return kit.build().digest();
  };
  EXPECT_EQ(digest({2, 3}, "Relu"), digest({2, 3}, "Relu"));
  EXPECT_NE(digest({2, 3}, "Relu"), digest({2, 4}, "Relu"));
  EXPECT_NE(digest({2, 3}, "Relu"), digest({2, 3}, "Tanh"));
}

TEST(GraphBuilder, OrdersAChainOfAHundredThousandOps) {
  const auto start = std::chrono::steady_clock::now();
  constexpr int length = 100'000;
  GraphBuilder builder("chain", 2);
  std::vector<TensorId> t;
  for (int i = 0; i <= length; ++i) t.push_back(builder.add_tensor(activation("t")));
  builder.tensor(t[0]).role = TensorRole::Input;
  for (int i = length; i >= 1; --i) builder.add_op(make_op("op", {t[i - 1]}, {t[i]}));
  const Graph graph = std::move(builder).build();
  EXPECT_EQ(graph.op_count(), static_cast<std::size_t>(length));
  for (std::size_t i = 1; i < length; ++i) {
    ASSERT_LT(graph.tensor(graph.op(OpId(i)).inputs[0]).producer, OpId(i));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 10.0);  // about 0.2 s; quadratic behaviour would take minutes
}

TEST(GraphBuilder, ZeroExtentsHaveNoWork) {
  ModelKit kit(2);
  kit.op("MatMul", {kit.input("x", {2, 0}), kit.weight("w", {0, 5})});
  const Graph graph = kit.build();
  EXPECT_EQ(graph.op(OpId(0)).work.flops, 0);
  EXPECT_EQ(graph.op(OpId(0)).work.fixed_bytes.value, 0);
}

}  // namespace
}  // namespace strato
