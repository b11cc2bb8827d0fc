// Whatever the file holds, the answer is a graph or a one-line error.
#include "core/base/random.h"
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

std::string error_of_bytes(const std::string& bytes) {
  return error_of([&] { import_bytes(bytes, batch(2)); });
}
std::string error_of_model(const ModelKit& kit) { return error_of_bytes(kit.bytes()); }
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A bit of everything: convolution, folded shape arithmetic, attributes, an external weight.
ModelKit specimen() {
  ModelKit kit;
  kit.input("x", {"batch", 3, 8, 8}).output("y").weight("f", {4, 3, 3, 3}).weight("w", {144, 5});
  kit.constant("zero", int64(0)).constant("axes", int64s({0})).constant("rest", int64s({-1}));
  kit.node("Conv", {"x", "f"}, {"c"}).name("conv").set("strides", std::vector<std::int64_t>{1, 1});
  kit.node("Shape", {"c"}, {"s"});
  kit.node("Gather", {"s", "zero"}, {"n"});
  kit.node("Unsqueeze", {"n", "axes"}, {"n1"});
  kit.node("Concat", {"n1", "rest"}, {"t"}).set("axis", 0L);
  kit.node("Reshape", {"c", "t"}, {"flat"});
  kit.node("MatMul", {"flat", "w"}, {"m"}).name("linear");
  kit.node("Softmax", {"m"}, {"y"}).set("axis", -1L);
  return kit;
}

TEST(OnnxBadInput, TheSpecimenIsGood) { EXPECT_EQ(specimen().import(batch(2)).op_count(), 4U); }

TEST(OnnxBadInput, NotAModel) {
  EXPECT_TRUE(has(error_of_bytes(""), "is empty"));
  EXPECT_TRUE(has(error_of_bytes("This is a text, not a model.\n"), "is not an ONNX model"));
  EXPECT_TRUE(has(error_of_bytes("{\"format\": \"json\"}"), "is not an ONNX model"));
  EXPECT_TRUE(has(error_of_bytes(std::string(5000, '\0')), "is not an ONNX model"));
  EXPECT_TRUE(has(error_of_bytes("\x89PNG\r\n\x1a\n"), "is not an ONNX model"));
}

TEST(OnnxBadInput, NotAFile) {
  EXPECT_TRUE(has(error_of([] { import_file("/nonexistent/model.onnx"); }), "cannot be opened"));
  EXPECT_TRUE(has(error_of([] { import_file("/dev/null"); }), "is not a regular file"));
  EXPECT_TRUE(has(error_of([] { import_file("/"); }), "is not a regular file"));
}

TEST(OnnxBadInput, Headers) {
  ModelKit old = specimen();
  old.proto.set_ir_version(100000);
  EXPECT_TRUE(has(error_of_model(old), "ir_version"));
  ModelKit none = specimen();
  none.proto.clear_opset_import();
  EXPECT_TRUE(has(error_of_model(none),
                  "opset_import: the op set of ONNX itself (ai.onnx) is not imported"));
  for (const std::int64_t version : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX}) {
    ModelKit absurd = specimen();
    absurd.proto.mutable_opset_import(0)->set_version(version);
    EXPECT_TRUE(has(error_of_model(absurd), "does not exist"));
  }
}

TEST(OnnxBadInput, APointerOfGitLfsIsTold) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n";
  EXPECT_TRUE(has(error_of_bytes(pointer), "git lfs pull")) << error_of_bytes(pointer);
}

TEST(OnnxBadInput, InputsThatDoNotGoTogetherAreNotGuessedOver) {
  ModelKit kit;
  kit.input("x", {"batch", 4}).weight("w", {5, 4}).output("y");
  kit.node("MatMul", {"x", "w"}, {"y"});
  EXPECT_TRUE(
      has(error_of_model(kit), "its result's shape cannot be told from inputs of [2, 4], [5, 4] ("))
      << error_of_model(kit);
}

TEST(OnnxBadInput, AnInputNamedTwice) {
  ModelKit kit = specimen();
  *kit.proto.mutable_graph()->add_input() = kit.proto.graph().input(0);
  EXPECT_TRUE(has(error_of_model(kit), "is defined twice")) << error_of_model(kit);
}

TEST(OnnxBadInput, EmptyGraphs) {
  ModelKit no_ops;
  no_ops.input("x", {"batch"});
  EXPECT_TRUE(has(error_of_model(no_ops), "has no ops"));
  ModelKit no_inputs;
  no_inputs.weight("w", {2}).output("y");
  no_inputs.node("Relu", {"w"}, {"y"});
  EXPECT_TRUE(has(error_of_model(no_inputs), "no input"));
  ModelKit no_result;
  no_result.input("x", {"batch"}).output("nothing");
  no_result.node("Relu", {"x"}, {"y"});
  EXPECT_TRUE(has(error_of_model(no_result), "output \"nothing\": is made by no op"));
  ModelKit constant;
  constant.input("x", {"batch"}).output("s");
  constant.node("Shape", {"x"}, {"s"});
  EXPECT_TRUE(has(error_of_model(constant), "do not depend on any input"));
}

TEST(OnnxBadInput, BrokenWiring) {
  ModelKit cycle;
  cycle.input("x", {"batch"}).output("b");
  cycle.node("Add", {"x", "b"}, {"a"}).name("p");
  cycle.node("Relu", {"a"}, {"b"}).name("q");
  EXPECT_TRUE(has(error_of_model(cycle),
                  "op \"p\" (Add), op \"q\" (Relu): wait for each other in a cycle"));
  ModelKit missing;
  missing.input("x", {"batch"}).output("y");
  missing.node("Add", {"x", "ghost"}, {"y"}).name("p");
  EXPECT_TRUE(
      has(error_of_model(missing), "op \"p\" (Add): reads tensor \"ghost\", which nothing makes"));
  ModelKit twice;
  twice.input("x", {"batch"}).output("y");
  twice.node("Relu", {"x"}, {"y"}).name("p");
  twice.node("Tanh", {"x"}, {"y"}).name("q");
  EXPECT_TRUE(
      has(error_of_model(twice), "op \"q\" (Tanh): makes tensor \"y\", which exists already"));
  ModelKit shadow;
  shadow.input("x", {"batch"}).output("x");
  shadow.node("Relu", {"x"}, {"x"});
  EXPECT_TRUE(has(error_of_model(shadow), "exists already"));
}

TEST(OnnxBadInput, Extents) {
  ModelKit negative = specimen();
  negative.graph().mutable_initializer(0)->set_dims(1, -3);
  EXPECT_TRUE(has(error_of_model(negative), "tensor \"f\": has a negative extent"));
  ModelKit huge = specimen();
  huge.graph().mutable_initializer(0)->set_dims(0, INT64_MAX);
  EXPECT_TRUE(has(error_of_model(huge), "too large"));
  ModelKit expanded;
  expanded.input("x", {"batch", 1, 1}).output("y").constant("to", int64s({1, 1L << 40, 1L << 40}));
  expanded.node("Expand", {"x", "to"}, {"y"});
  EXPECT_NE(error_of_model(expanded), "");
}

TEST(OnnxBadInput, AttributesThatDivideByZero) {
  for (const char* key : {"strides", "dilations", "kernel_shape"}) {
    ModelKit kit;
    kit.input("x", {"batch", 3, 8, 8}).output("y").weight("f", {4, 3, 3, 3});
    kit.node("Conv", {"x", "f"}, {"y"}).set(key, std::vector<std::int64_t>{0, 0});
    error_of_model(kit);  // an error or the catalogue's answer, never a crash
  }
  ModelKit blocks;
  blocks.input("x", {"batch", 4, 8, 8}).output("y");
  blocks.node("SpaceToDepth", {"x"}, {"y"}).set("blocksize", 0L);
  error_of_model(blocks);
}

// Nodes on which libonnx's own inference reads past the end or divides by zero.
TEST(OnnxBadInput, ShapesThatLibraryRulesDoNotExpect) {
  for (std::size_t rank = 0; rank < 4; ++rank) {
    ModelKit kit;
    kit.input("x", {"batch", 4, 6, 6}).output("y");
    kit.weight("f", std::vector<std::int64_t>(rank, 4));
    kit.node("ConvTranspose", {"x", "f"}, {"y"});
    error_of_model(kit);
  }
  ModelKit lone;
  lone.input("x", {}).input("z", {"batch"}).output("y").weight("s", {2});
  lone.node("LayerNormalization", {"x", "s"}, {"y"});
  error_of_model(lone);
  ModelKit picked;
  picked.input("x", {"batch", 4}).output("y").constant("none", int64s({}));
  picked.node("GatherND", {"x", "none"}, {"y"}).set("batch_dims", 1L);
  error_of_model(picked);
  ModelKit spectrum;
  spectrum.input("x", {"batch"}).output("y").constant("step", int64(1));
  spectrum.node("STFT", {"x", "step"}, {"y"});
  EXPECT_NE(error_of_model(spectrum), "");
  ModelKit parts;
  parts.input("x", {"batch", 4}).output("y").constant("size", int64(0));
  parts.node("SplitToSequence", {"x", "size"}, {"y"});
  EXPECT_NE(error_of_model(parts), "");
}

TEST(OnnxBadInput, NamesThatAreNoText) {
  ModelKit kit;
  kit.input("x", {"batch"}).output("y\xff");
  kit.node("Relu", {"x"}, {"y\xff"}).name("bad\xc0\x80\n");
  const Graph graph = kit.import(batch(1));
  EXPECT_EQ(graph.ops()[OpId(0)].name, "bad???");
}

TEST(OnnxBadInput, EveryTruncation) {
  const std::string bytes = specimen().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(error_of_bytes(bytes.substr(0, size)), "") << size << " of " << bytes.size();
  }
}

TEST(OnnxBadInput, RandomBytes) {
  Random random(3);
  for (int round = 0; round < 500; ++round) {
    std::string bytes(1 + random.below(400), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    EXPECT_NE(error_of_bytes(bytes), "");
  }
}

TEST(OnnxBadInput, RandomMutations) {
  const std::string bytes = specimen().bytes();
  Random random(5);
  int good = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string mutated = bytes;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::size_t at = random.below(mutated.size());
      const std::uint64_t kind = random.below(4);
      if (kind == 0)
        mutated[at] = static_cast<char>(random.below(256));
      else if (kind == 1)
        mutated[at] = static_cast<char>(mutated[at] ^ (1 << random.below(8)));
      else if (kind == 2)
        mutated.erase(at, 1 + random.below(4));
      else
        mutated.insert(at, mutated.substr(random.below(mutated.size()), random.below(16)));
    }
    good += error_of_bytes(mutated).empty();
  }
  EXPECT_GT(good, 20);  // changed names do no harm
}

}  // namespace
}  // namespace strato::test
