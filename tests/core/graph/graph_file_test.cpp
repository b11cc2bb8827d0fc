#include "core/graph/build/graph_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/graph/build/graph_builder.h"
#include "core/graph/train/training_graph.h"
#include "core/graph/value/graph.h"
#include "core/io/container.h"
#include "core/io/file.h"
#include "tests/core/io/forged_container.h"
#include "tests/message_of.h"
#include "tests/paths.h"

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
  EXPECT_EQ(message_of([&] { parse_graph(bytes, "m.strata"); }),
            "m.strata: was written by a newer version of the program; update the program");
}

TEST(GraphFile, KeepsAttributesOfEveryKind) {
  GraphBuilder builder("kinds", 1, "");
  const TensorId x = builder.add_tensor(made("x", TensorRole::Input, {1}));
  const TensorId y = builder.add_tensor(made("y", TensorRole::Activation, {1}));
  Op clip = op("clip", "Clip", {x}, {y});
  clip.attributes = {{"integers", std::vector<std::int64_t>()},
                     {"max", std::numeric_limits<double>::infinity()},
                     {"most", std::numeric_limits<std::int64_t>::max()},
                     {"reals", std::vector<double>()},
                     {"whole", 2.0}};
  builder.add_op(std::move(clip));
  const Graph graph = std::move(builder).build();
  expect_equal(graph, parse_graph(serialise(graph), "t"));
}

// As the version before this form wrote it.
std::string first_file() {
  return read_file(std::filesystem::path(kSourceFolder) / "tests/data/first_graph/graph.bin");
}

TEST(FirstGraphFile, IsReadAsTheGraphThatWasWritten) {
  expect_equal(small_graph(), parse_graph(first_file(), "t"));
}

TEST(FirstGraphFile, RefusesEveryTruncationAndChangedByte) {
  const std::string bytes = first_file();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    EXPECT_THROW(parse_graph(bytes.substr(0, at), "t"), InputError) << at;
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    EXPECT_THROW(parse_graph(damaged, "t"), InputError) << at;
  }
  EXPECT_THROW(parse_graph(bytes + "x", "t"), InputError);
}

TEST(FirstGraphFile, SaysItsVersion) {
  std::string bytes = first_file();
  bytes[8] = 9;
  EXPECT_EQ(message_of([&] { parse_graph(bytes, "m.strata"); }),
            "m.strata: is a graph of format version 9; open it with the program version that wrote "
            "it, or import the model again");
}

std::string with_changes(std::string content, Random& random) {
  for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes)
    content[random.below(content.size())] = static_cast<char>(random.below(256));
  return content;
}

// Someone who mends the check sum gets no further than an error either.
TEST(FirstGraphFile, SurvivesForgedContent) {
  const std::string bytes = first_file();
  constexpr std::size_t head = 8 + 4 + 16;
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string content = with_changes(bytes.substr(head), random);
    const Digest check = digest_of(content);
    std::string forged = bytes.substr(0, 12);
    forged.append(reinterpret_cast<const char*>(&check.high), 8);
    forged.append(reinterpret_cast<const char*>(&check.low), 8);
    refused += message_of([&] { parse_graph(forged + content, "t"); }) != "no error";
  }
  EXPECT_GT(refused, 100);
}

TEST(GraphFile, SurvivesForgedContent) {
  constexpr ContainerKind kind{"stratoscope-graph", 2, "", ""};
  const Contained read = read_container(serialise(small_graph()), kind, "t");
  std::string cbor;
  Json::to_cbor(read.value.json(), cbor);
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    ForgedContainer forged{kind.name, 0, 2, with_changes(cbor, random), cbor.size()};
    refused += message_of([&] { parse_graph(forged.bytes(), "t"); }) != "no error";
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace strato
