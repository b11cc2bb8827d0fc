// The elements of weights, wherever a model has them.
#include "core/plugin/load/tensor_files.h"
#include "tests/paths.h"
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

using Reals = std::vector<float>;

class WeightValues : public ::testing::Test {
 protected:
  WeightValues() { kit_.input("x", {"batch", 4}).output("y"); }

  std::unique_ptr<TensorSource> open() {
    static const PluginRegistry registry({std::filesystem::path(kBuildFolder) / "plugins"});
    std::ofstream(folder_ / "model.onnx", std::ios::binary) << kit_.bytes();
    return open_weights(registry, folder_ / "model.onnx", batch(8));
  }
  std::string bytes_of(const std::string& name) {
    const auto source = open();
    std::string bytes;
    for (std::size_t i = 0; i < source->tensors().size(); ++i) {
      if (source->tensors()[i].name == name)
        source->read(i, [&](std::string_view part) { bytes += part; });
    }
    return bytes;
  }
  Reals values_of(const std::string& name) {
    const std::string bytes = bytes_of(name);
    Reals values(bytes.size() / 4);
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::string refusal() {
    return error_of([&] { bytes_of("w"); });
  }
  static Reals counted(std::size_t count) {
    Reals values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) / 2;
    return values;
  }
  // w [4, columns], whose elements are in a file, where the entries say.
  void external(std::int64_t columns, const std::map<std::string, std::string>& entries) {
    onnx::TensorProto tensor = floats({4, columns}, {});
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    kit_.constant("w", tensor);
    kit_.node("MatMul", {"x", "w"}, {"y"});
  }
  void write(const std::string& name, const std::string& before, const Reals& values) {
    std::ofstream stream(folder_ / name, std::ios::binary);
    stream << before;
    stream.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * 4));
  }

  ModelKit kit_;
  Scratch folder_;
};

TEST_F(WeightValues, SmallAndLargeOnesInTheFile) {
  const Reals small = counted(12), large = counted(4 * 30000);
  kit_.constant("w", floats({4, 3}, small)).constant("v", floats({4, 30000}, large));
  kit_.graph().clear_output();
  kit_.output("y").output("z");
  kit_.node("MatMul", {"x", "w"}, {"y"});
  kit_.node("MatMul", {"x", "v"}, {"z"});
  EXPECT_EQ(values_of("w"), small);
  EXPECT_EQ(values_of("v"), large);
}

TEST_F(WeightValues, InFieldsOfTheirType) {
  for (const std::int64_t columns : {3, 30000}) {
    kit_ = ModelKit();
    kit_.input("x", {"batch", 4}).output("y");
    const Reals values = counted(static_cast<std::size_t>(4 * columns));
    onnx::TensorProto tensor = floats({4, columns}, {});
    tensor.clear_raw_data();
    for (const float value : values) tensor.add_float_data(value);
    kit_.constant("w", tensor);
    kit_.node("MatMul", {"x", "w"}, {"y"});
    EXPECT_EQ(values_of("w"), values) << columns;
  }
}

TEST_F(WeightValues, HalvesAsNumbersOfVaryingLength) {
  for (const std::int64_t columns : {3, 40000}) {
    kit_ = ModelKit();
    kit_.input("x", {"batch", 4}, onnx::TensorProto::FLOAT16).output("y");
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::FLOAT16);
    tensor.add_dims(4);
    tensor.add_dims(columns);
    std::string expected;
    for (std::int64_t i = 0; i < 4 * columns; ++i) {
      const auto bits = static_cast<std::uint16_t>(i % 0x7c00);
      tensor.add_int32_data(bits);
      expected.append(reinterpret_cast<const char*>(&bits), 2);
    }
    kit_.constant("w", tensor);
    kit_.node("MatMul", {"x", "w"}, {"y"});
    EXPECT_EQ(bytes_of("w") == expected, true) << columns;
  }
}

TEST_F(WeightValues, CopiesConstantsAndFilledOnes) {
  kit_.constant("w", floats({4, 4}, counted(16))).constant("shape", int64s({4, 4}));
  kit_.node("Identity", {"w"}, {"copy"});
  kit_.node("Constant", {}, {"own"}).set("value", floats({4, 4}, Reals(16, 3)));
  kit_.node("ConstantOfShape", {"shape"}, {"filled"}).set("value", floats({1}, {2.5F}));
  kit_.node("ConstantOfShape", {"shape"}, {"zeros"});
  kit_.node("MatMul", {"x", "w"}, {"a"});
  kit_.node("MatMul", {"a", "copy"}, {"b"});
  kit_.node("MatMul", {"b", "own"}, {"c"});
  kit_.node("MatMul", {"c", "filled"}, {"d"});
  kit_.node("MatMul", {"d", "zeros"}, {"y"});
  EXPECT_EQ(values_of("copy"), counted(16));
  EXPECT_EQ(values_of("own"), Reals(16, 3));
  EXPECT_EQ(values_of("filled"), Reals(16, 2.5F));
  EXPECT_EQ(values_of("zeros"), Reals(16, 0));
}

TEST_F(WeightValues, InAFileBesideTheModel) {
  external(3, {{"location", "parts/w.bin"}, {"offset", "6"}, {"length", "48"}});
  std::filesystem::create_directory(folder_ / "parts");
  write("parts/w.bin", "before", counted(12));
  EXPECT_EQ(values_of("w"), counted(12));
}

TEST_F(WeightValues, OfAFileThatIsNotThereAreLeftOut) {
  external(3, {{"location", "w.bin"}});
  const auto source = open();
  EXPECT_TRUE(source->tensors().empty());
  EXPECT_EQ(source->note(), "\"w.bin\" is not there");
}

TEST_F(WeightValues, OfATruncatedFileAreRefused) {
  external(3, {{"location", "w.bin"}});
  write("w.bin", "", counted(11));
  EXPECT_EQ(refusal(),
            "\"w\": needs 48 bytes from 0 on of \"w.bin\", which has 44; copy or export the "
            "model again");
}

TEST_F(WeightValues, AtAWrongPlaceAreRefused) {
  external(3, {{"location", "w.bin"}, {"offset", "4"}});
  write("w.bin", "", counted(12));
  EXPECT_NE(refusal().find("needs 48 bytes from 4 on"), std::string::npos) << refusal();
  for (const char* offset : {"18446744073709551615", "18446744073709551600", "49"}) {
    kit_.graph().mutable_initializer(0)->mutable_external_data(1)->set_value(offset);
    EXPECT_NE(refusal().find("needs 48 bytes from"), std::string::npos) << refusal();
  }
  for (const char* offset : {"-4", "4x", "", "99999999999999999999"}) {
    kit_.graph().mutable_initializer(0)->mutable_external_data(1)->set_value(offset);
    EXPECT_NE(refusal().find("offset or length is no number"), std::string::npos) << refusal();
  }
}

TEST_F(WeightValues, OfAnotherLengthAreRefused) {
  external(3, {{"location", "w.bin"}, {"length", "44"}});
  write("w.bin", "", counted(12));
  EXPECT_NE(refusal().find("has 44 bytes instead of 48"), std::string::npos) << refusal();
}

TEST_F(WeightValues, OutsideTheModelsFolderAreRefused) {
  const Scratch elsewhere;
  std::ofstream(elsewhere / "w.bin") << std::string(48, 'x');
  std::filesystem::create_symlink(elsewhere / "w.bin", folder_ / "link.bin");
  std::filesystem::create_symlink(elsewhere / "", folder_ / "door");
  external(3, {{"location", ""}});
  for (const std::string& location :
       {std::string("../w.bin"), (elsewhere / "w.bin").string(), std::string("link.bin"),
        std::string("door/w.bin"), std::string("a/../../w.bin"), std::string("/etc/passwd"),
        std::string("..")}) {
    kit_.graph().mutable_initializer(0)->mutable_external_data(0)->set_value(location);
    EXPECT_NE(refusal().find("is not in the model's folder"), std::string::npos)
        << location << ": " << refusal();
  }
}

TEST_F(WeightValues, OfAWrongSizeInTheFileAreRefused) {
  onnx::TensorProto tensor = floats({4, 30000}, counted(4 * 30000 - 1));
  kit_.constant("w", tensor);
  kit_.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_NE(refusal().find("bytes instead of"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace strato::test
