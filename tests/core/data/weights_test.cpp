#include <gtest/gtest.h>

#include <cmath>

#include "core/data/npy.h"
#include "core/data/safetensors.h"
#include "core/data/tensor_folder.h"
#include "core/graph/build/graph_builder.h"
#include "core/io/file.h"
#include "tests/core/data/memory_source.h"
#include "tests/core/store/temporary_folder.h"
#include "tests/message_of.h"

namespace strato {
namespace {

// x [4, 2] times w [2, 3] plus b [3].
Graph linear() {
  GraphBuilder builder("linear", 4);
  const auto add = [&](const char* name, TensorRole role, Shape shape) {
    Tensor tensor;
    tensor.name = name;
    tensor.role = role;
    tensor.shape = std::move(shape);
    return builder.add_tensor(std::move(tensor));
  };
  const TensorId x = add("x", TensorRole::Input, {4, 2}),
                 w = add("w", TensorRole::Parameter, {2, 3}),
                 b = add("b", TensorRole::Parameter, {3}),
                 y = add("y", TensorRole::Activation, {4, 3}),
                 z = add("z", TensorRole::Activation, {4, 3});
  Op product;
  product.name = "product";
  product.type = "MatMul";
  product.inputs = {x, w};
  product.outputs = {y};
  builder.add_op(product);
  Op sum;
  sum.name = "sum";
  sum.type = "Add";
  sum.inputs = {y, b};
  sum.outputs = {z};
  builder.add_op(sum);
  return std::move(builder).build();
}

const std::vector<float> kW = {1, 2, 3, 4, 5, 6}, kB = {7, 8, 9};

struct Weights : ::testing::Test {
  void give_w() { source.add({"w", DataType::F32, {2, 3}}, bytes_of(kW)); }
  void give_b() { source.add({"b", DataType::F32, {3}}, bytes_of(kB)); }
  std::string refusal() {
    return message_of([&] { stage_weights(folder.path(), graph, source); });
  }
  std::vector<float> staged(const std::string& name) {
    for (const FolderTensor& each : read_tensor_folder(weights_folder(folder.path())).tensors) {
      if (each.tensor.name == name) return numbers_of_bytes<float>(NpyFile(each.file).elements());
    }
    return {};
  }
  Graph graph = linear();
  MemorySource source;
  TemporaryFolder folder;
};

TEST_F(Weights, BecomeACheckpointWithoutState) {
  give_b();
  give_w();
  source.add({"more", DataType::F32, {1}}, bytes_of<float>({1}));
  const WeightsReport report = stage_weights(folder.path(), graph, source);
  EXPECT_EQ(report.parameters, 2u);
  EXPECT_EQ(report.bytes, 36);
  EXPECT_TRUE(report.not_finite.empty());
  EXPECT_EQ(report.unused, std::vector<std::string>{"more"});
  EXPECT_EQ(staged("w"), kW);
  EXPECT_EQ(staged("b"), kB);
  EXPECT_EQ(read_tensor_folder(weights_folder(folder.path())).step, 0);
}

TEST_F(Weights, ThatAreNoNumbersAreAllowedAndTold) {
  give_w();
  source.add({"b", DataType::F32, {3}}, bytes_of<float>({1, std::nanf(""), 3}));
  EXPECT_EQ(stage_weights(folder.path(), graph, source).not_finite, std::vector<std::string>{"b"});
}

TEST_F(Weights, OfHalfPrecisionWiden) {
  give_w();
  source.add({"b", DataType::F16, {3}}, bytes_of<std::uint16_t>({0x3c00, 0xc000, 0x0001}));
  stage_weights(folder.path(), graph, source);
  EXPECT_EQ(staged("b"), (std::vector<float>{1, -2, 0x1p-24F}));
}

TEST_F(Weights, OfTheOther16BitsWidenToo) {
  give_w();
  source.add({"b", DataType::BF16, {3}}, bytes_of<std::uint16_t>({0x3f80, 0xc000, 0x7f80}));
  EXPECT_EQ(stage_weights(folder.path(), graph, source).not_finite.size(), 1u);
  EXPECT_EQ(staged("b"), (std::vector<float>{1, -2, INFINITY}));
}

TEST_F(Weights, ThatDoNotFitAreRefused) {
  give_w();
  EXPECT_NE(refusal().find("memory: has no values for b"), std::string::npos) << refusal();
  EXPECT_EQ(missing_parameters(graph, source), std::vector<std::string>{"b"});
  MemorySource turned = source;
  turned.add({"b", DataType::F32, {1, 3}}, bytes_of(kB));
  std::string said = message_of([&] { check_weights(graph, turned); });
  EXPECT_NE(said.find("has shape [1, 3], and the model's parameter [3]"), std::string::npos)
      << said;
  MemorySource wide = source;
  wide.add({"b", DataType::F64, {3}}, bytes_of<double>({1, 2, 3}));
  said = message_of([&] { check_weights(graph, wide); });
  EXPECT_NE(said.find("store it as float32"), std::string::npos) << said;
  MemorySource cut = source;
  cut.add({"b", DataType::F32, {3}}, bytes_of<float>({1, 2}));
  said = message_of([&] { stage_weights(folder.path(), graph, cut); });
  EXPECT_NE(said.find("has 8 bytes instead of 12"), std::string::npos) << said;
}

TEST_F(Weights, GoThroughSafetensors) {
  give_w();
  give_b();
  const auto file = folder / "a.safetensors";
  write_safetensors(file, source);
  const auto read = open_safetensors(file);
  ASSERT_EQ(read->tensors().size(), 2u);
  stage_weights(folder.path(), graph, *read);
  EXPECT_EQ(staged("w"), kW);
  EXPECT_EQ(staged("b"), kB);
}

TEST_F(Weights, OfDamagedSafetensorsAreRefused) {
  give_w();
  give_b();
  const auto file = folder / "a.safetensors";
  write_safetensors(file, source);
  const std::string whole = read_file(file);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(file, whole.substr(0, size));
    EXPECT_NE(message_of([&] { open_safetensors(file); }), "no error") << size;
  }
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    write_file(file, text);
    return message_of([&] { open_safetensors(file); });
  };
  EXPECT_NE(with("[2,3]", "[3,3]").find("does not fit type and shape"), std::string::npos);
  EXPECT_NE(with("\"F32\"", "\"C64\"").find("type that is not read"), std::string::npos);
  EXPECT_NE(with("[24,36]", "[36,24]"), "no error");
  EXPECT_NE(with("[24,36]", "[25,37]"), "no error");
}

TEST_F(Weights, OfAFolderThatPointsElsewhereAreRefused) {
  give_w();
  give_b();
  stage_weights(folder.path(), graph, source);
  const auto file = weights_folder(folder.path()) / "index.json";
  const std::string whole = read_file(file);
  for (const char* name : {"../0.npy", "/etc/0.npy", "0.npy/../1.npy", ".npy", "x.npy"}) {
    std::string text = whole;
    text.replace(text.find("0.npy"), 5, name);
    write_file(file, text);
    const std::string said = message_of([&] { open_tensor_folder(weights_folder(folder.path())); });
    EXPECT_NE(said.find("is not a file of the checkpoint"), std::string::npos) << name << said;
  }
}

// Before anything is staged of it.
TEST_F(Weights, OfADamagedCheckpointAreRefusedWhenItIsOpened) {
  give_w();
  give_b();
  stage_weights(folder.path(), graph, source);
  const auto checkpoint = weights_folder(folder.path()), file = checkpoint / "1.npy";
  const std::string whole = read_file(file);
  const auto open = [&] { return message_of([&] { open_tensor_folder(checkpoint); }); };
  EXPECT_EQ(open(), "no error");
  write_file(file, whole.substr(0, whole.size() - 1));
  EXPECT_NE(open().find("1.npy: is not whole"), std::string::npos) << open();
  write_file(file, npy_header(DataType::F64, {3}) + std::string(24, '\0'));
  EXPECT_NE(open().find("of another type or shape than in index.json"), std::string::npos)
      << open();
  write_file(file, npy_header(DataType::F32, {3, 1}) + std::string(12, '\0'));
  EXPECT_NE(open().find("of another type or shape than in index.json"), std::string::npos)
      << open();
  std::filesystem::remove(file);
  EXPECT_NE(open().find("1.npy: cannot be opened"), std::string::npos) << open();
}

TEST_F(Weights, OfACheckpointSurviveIt) {
  give_w();
  give_b();
  stage_weights(folder.path(), graph, source);
  const auto opened = open_tensor_folder(weights_folder(folder.path()));
  stage_weights(folder.path(), graph, *opened);  // in its own place
  std::filesystem::remove_all(weights_folder(folder.path()));
  stage_weights(folder.path(), graph, *opened);
  EXPECT_EQ(staged("w"), kW);
  EXPECT_EQ(staged("b"), kB);
}

TEST_F(Weights, AreNeverWrittenThroughALink) {
  give_w();
  give_b();
  const auto weights = weights_folder(folder.path()), mine = folder / "mine";
  write_file(mine, "mine");
  for (const std::filesystem::path& target : {mine, std::filesystem::path("/dev/null")}) {
    std::filesystem::remove_all(weights);
    std::filesystem::create_directory(weights);
    std::filesystem::create_symlink(target, weights / "0.npy");
    EXPECT_NE(refusal().find("0.npy: is a symbolic link"), std::string::npos) << refusal();
    EXPECT_FALSE(std::filesystem::exists(weights / "index.json"));
  }
  EXPECT_EQ(read_file(mine), "mine");
}

// What cannot be written whole is not there at all.
TEST_F(Weights, ThatEndTooSoonLeaveNoFile) {
  give_w();
  source.add({"b", DataType::F32, {3}}, bytes_of<float>({1, 2}));
  EXPECT_NE(refusal().find("has 8 bytes instead of 12"), std::string::npos) << refusal();
  EXPECT_TRUE(std::filesystem::exists(weights_folder(folder.path()) / "0.npy"));
  EXPECT_FALSE(std::filesystem::exists(weights_folder(folder.path()) / "1.npy"));
}

TEST(Names, AreToldUpToFive) {
  EXPECT_EQ(names_text({}), "");
  EXPECT_EQ(names_text({"a", "b", "c", "d", "e"}), "a, b, c, d, e");
  EXPECT_EQ(names_text({"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d, e and 2 more");
}

}  // namespace
}  // namespace strato
