#include "core/data/inputs.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/graph/build/graph_builder.h"
#include "core/io/file.h"
#include "tests/core/data/memory_source.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

constexpr std::int64_t kBatch = 2;

// Words [time 3, batch 2] look rows of a table up; a mask without samples is added.
Graph words_model() {
  GraphBuilder builder("words", kBatch);
  const auto add = [&](const char* name, TensorRole role, DataType type, Shape shape) {
    Tensor tensor;
    tensor.name = name;
    tensor.role = role;
    tensor.type = type;
    tensor.shape = std::move(shape);
    return builder.add_tensor(std::move(tensor));
  };
  const TensorId words = add("in/words", TensorRole::Input, DataType::I64, {3, kBatch}),
                 table = add("table", TensorRole::Parameter, DataType::F32, {5, 4}),
                 mask = add("mask", TensorRole::Input, DataType::F32, {4}),
                 rows = add("rows", TensorRole::Activation, DataType::F32, {3, kBatch, 4}),
                 sum = add("sum", TensorRole::Activation, DataType::F32, {3, kBatch, 4});
  builder.tensor(words).batch = {BatchKind::Batched, 1};
  Op gather;
  gather.name = "gather";
  gather.type = "Gather";
  gather.inputs = {table, words};
  gather.outputs = {rows};
  builder.add_op(gather);
  Op plus;
  plus.name = "plus";
  plus.type = "Add";
  plus.inputs = {rows, mask};
  plus.outputs = {sum};
  builder.add_op(plus);
  return std::move(builder).build();
}

class Inputs : public ::testing::Test {
 protected:
  Inputs() {
    write("words.npy", DataType::I64, {3, 3}, bytes_of<std::int64_t>({0, 1, 2, 3, 4, 0, 1, 2, 3}));
    write("mask.npy", DataType::F32, {4}, bytes_of<float>({1, 2, 3, 4}));
  }
  void write(const std::string& name, DataType type, const Shape& shape, const std::string& bytes) {
    std::filesystem::remove(folder / name);
    write_file(folder / name, npy_header(type, shape) + bytes);
    arrays[name.substr(0, name.size() - 4)] = {folder / name, nullptr, 0};
  }
  std::string refusal() {
    return message_of([&] { check_inputs(graph, bind_inputs(graph, arrays)); });
  }
  StagedInputs stage() {
    const BoundInputs bound = bind_inputs(graph, arrays);
    stage_inputs(folder / "job", graph, bound, check_inputs(graph, bound));
    return open_inputs(folder / "job", graph);
  }
  std::vector<std::int64_t> words_of(std::int64_t step, std::int64_t begin, std::int64_t end) {
    const StagedInputs staged = stage();
    for (const StagedInput& input : staged.inputs) {
      if (graph.tensor(input.tensor).name == "in/words") {
        return numbers_of_bytes<std::int64_t>(
            batch_of(input, graph, staged.samples, step, begin, end));
      }
    }
    return {};
  }
  TemporaryFolder folder;
  Graph graph = words_model();
  InputArrays arrays;
};

using Numbers = std::vector<std::int64_t>;

TEST_F(Inputs, AStepTakesItsBatchAndAShardItsSamples) {
  // Samples 0 to 2 are {0, 1, 2}, {3, 4, 0}, {1, 2, 3}; a batch has them on its second axis.
  EXPECT_EQ(words_of(1, 0, 2), (Numbers{0, 3, 1, 4, 2, 0}));
  EXPECT_EQ(words_of(2, 0, 2), (Numbers{1, 0, 2, 1, 3, 2}));  // the third, and the first again
  EXPECT_EQ(words_of(3, 0, 2), (Numbers{3, 1, 4, 2, 0, 3}));
  EXPECT_EQ(words_of(4, 0, 2), words_of(1, 0, 2));
  EXPECT_EQ(words_of(2, 1, 2), (Numbers{0, 1, 2}));
  EXPECT_EQ(words_of(1'000'000'000'000, 0, 1), words_of(1, 0, 1));  // the rest of thrice a batch
}

TEST_F(Inputs, ManySmallIntegersWiden) {
  write("words.npy", DataType::U8, {3, 3}, {0, 1, 2, 3, 4, 0, 1, 2, 3});
  EXPECT_EQ(words_of(1, 0, 2), (Numbers{0, 3, 1, 4, 2, 0}));
}

TEST_F(Inputs, AreFoundByTheNamesThatFilesCanHave) {
  const InputArray words = arrays.at("words"), mask = arrays.at("mask");
  for (const char* name : {"in/words", "in_words", "words"}) {
    const BoundInputs bound = bind_inputs(graph, {{name, words}, {"mask", mask}, {"other", mask}});
    EXPECT_EQ(bound.arrays.size(), 2u) << name;
    EXPECT_EQ(bound.unused, std::vector<std::string>{"other"});
  }
  arrays["in_words"] = words;
  EXPECT_NE(refusal().find("\"in/words\" has several arrays"), std::string::npos) << refusal();
  arrays.erase("in_words");
  arrays.erase("mask");
  EXPECT_NE(refusal().find("no array for \"mask\""), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("in/words: int64 [N, 3]; mask: float32 [4]"), std::string::npos)
      << refusal();
}

TEST_F(Inputs, ThatDoNotFitAreRefused) {
  const auto expect = [&](const std::string& part) {
    EXPECT_NE(refusal().find(part), std::string::npos) << part << ": " << refusal();
  };
  write("words.npy", DataType::I64, {2, 3}, bytes_of<std::int64_t>({0, 1, 2, 3, 4, 5}));
  expect("has 5 at element 5, and indices go from 0 to 4");
  write("words.npy", DataType::I64, {2, 3}, bytes_of<std::int64_t>({0, -1, 2, 3, 4, 0}));
  expect("has -1 at element 1");
  write("words.npy", DataType::I64, {1, 3}, bytes_of<std::int64_t>({0, 1, 2}));
  expect("has 1 samples, and a batch 2");
  write("words.npy", DataType::I64, {3, 2}, bytes_of<std::int64_t>({0, 1, 2, 3, 4, 0}));
  expect("has shape [3, 2] instead of [N, 3]");
  write("words.npy", DataType::I64, {}, bytes_of<std::int64_t>({0}));
  expect("instead of [N, 3]");
  write("words.npy", DataType::F32, {2, 3}, bytes_of<float>({0, 1, 2, 3, 4, 0}));
  expect("has elements of type float32 instead of int64");
  write("words.npy", DataType::I64, {2, 3}, bytes_of<std::int64_t>({0, 1, 2, 3, 4, 0}));
  write("mask.npy", DataType::F64, {4}, bytes_of<double>({1, 2, 3, 4}));
  expect("store it as float32");
  write("mask.npy", DataType::F32, {2, 4}, std::string(32, '\0'));
  expect("has shape [2, 4] instead of [4]");
  write_file(folder / "mask.npy", "PK");
  expect("is not an .npy file");
  std::filesystem::remove(folder / "mask.npy");
  expect("cannot be opened");
}

TEST_F(Inputs, OfAFolderThatWasChangedAreRefused) {
  stage();
  const auto index = folder / "job/inputs/index.json";
  const std::string whole = read_file(index);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    write_file(index, text);
    return message_of([&] { open_inputs(folder / "job", graph); });
  };
  EXPECT_NE(with("0.npy", "../../mask.npy").find("not a file of the folder"), std::string::npos);
  EXPECT_NE(with("in/words", "in/letters").find("is no input"), std::string::npos);
  EXPECT_NE(with("\"samples\": 3", "\"samples\": 1"), "no error");
  EXPECT_NE(with("\"samples\": 3", "\"samples\": 0"), "no error");
  EXPECT_EQ(with("\"samples\": 3", "\"samples\": 3"), "no error");
}

}  // namespace
}  // namespace strato
