// Symbolic dimensions, and a batch that is built into the file.
#include "tests/plugins/importers/onnx/model_kit.h"

namespace strato::test {
namespace {

ModelKit relu(const std::vector<Dim>& dims) {
  ModelKit kit;
  kit.input("x", dims).output("y");
  kit.node("Relu", {"x"}, {"y"}).name("r");
  return kit;
}

TEST(OnnxDimensions, SymbolicBatch) {
  for (const Dim first : {Dim("batch"), Dim("N"), Dim("anything"), Dim(""), Dim(0), Dim(-1)}) {
    const Graph graph = relu({first, 5}).import(batch(32));
    EXPECT_EQ(graph.batch(), 32);
    EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{32, 5}));
  }
}

TEST(OnnxDimensions, UnboundBatch) {
  EXPECT_EQ(error_of([] {
              relu({"batch", 5}).import();
            }),
            "input \"x\", dimension 0: the symbolic dimension \"batch\" is not bound; "
            "give the batch size with --batch N");
}

TEST(OnnxDimensions, UnboundOther) {
  EXPECT_EQ(error_of([] {
              relu({"batch", "length"}).import(batch(2));
            }),
            "input \"x\", dimension 1: the symbolic dimension \"length\" is not bound; "
            "give it with --set-dim length=N");
}

TEST(OnnxDimensions, OtherSymbolsByName) {
  ImportOptions options = batch(2);
  options.dimensions["length"] = 7;
  EXPECT_EQ(tensor_named(relu({"batch", "length"}).import(options), "y").shape, (Shape{2, 7}));
  options.dimensions["lenght"] = 7;
  EXPECT_EQ(
      error_of([&] {
        relu({"batch", "length"}).import(options);
      }),
      "--set-dim lenght: the model has no symbolic dimension of this name; it has batch, length");
}

TEST(OnnxDimensions, UnnamedOnesAreNamedByPlace) {
  ImportOptions options = batch(2);
  EXPECT_NE(error_of([&] {
              relu({"batch", ""}).import(options);
            }).find("--set-dim x.1=N"),
            std::string::npos);
  options.dimensions["x.1"] = 3;
  EXPECT_EQ(tensor_named(relu({"batch", ""}).import(options), "y").shape, (Shape{2, 3}));
}

// The file does not even say how many dimensions an input has.
TEST(OnnxDimensions, InputsWithoutAShape) {
  ModelKit kit;
  kit.input("x", {}).input("z", {}).output("y");
  for (int i = 0; i < 2; ++i)
    kit.graph().mutable_input(i)->mutable_type()->mutable_tensor_type()->clear_shape();
  kit.node("Add", {"x", "z"}, {"y"});
  ImportOptions options = batch(2);
  EXPECT_EQ(error_of([&] { kit.import(options); }),
            "inputs have no shape in the file: \"x\", \"z\"; "
            "give the numbers of their dimensions: --set-dim x.rank=N --set-dim z.rank=N");
  options.dimensions = {{"x.rank", 2}, {"z.rank", 9}};
  EXPECT_NE(error_of([&] { kit.import(options); }).find("z.rank: is 9"), std::string::npos);
  options.dimensions["z.rank"] = 2;
  EXPECT_NE(error_of([&] { kit.import(options); }).find("x.1=N --set-dim z.1=N"),
            std::string::npos);
  options.dimensions["x.1"] = options.dimensions["z.1"] = 5;
  const Graph graph = kit.import(options);
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{2, 5}));
  EXPECT_EQ(tensor_named(graph, "y").batch.axis, 0);
}

TEST(OnnxDimensions, BatchByItsName) {
  ImportOptions options;
  options.dimensions["batch"] = 6;
  EXPECT_EQ(relu({"batch", 5}).import(options).batch(), 6);
}

TEST(OnnxDimensions, BatchOnAnotherAxis) {
  ImportOptions options = batch(4);
  options.dimensions["length"] = 7;
  const Graph graph = relu({"length", "batch", 5}).import(options);
  EXPECT_EQ(graph.batch(), 4);
  EXPECT_EQ(tensor_named(graph, "x").batch, (BatchLayout{BatchKind::Batched, 1}));
  EXPECT_EQ(graph.ops()[OpId(0)].split, Splittability::Concat);
}

TEST(OnnxDimensions, BadBatch) {
  EXPECT_EQ(error_of([] {
              relu({"batch", 5}).import(batch(0));
            }),
            "--batch: is 0; give a batch of at least 1");
  EXPECT_NE(error_of([] { relu({"batch", 5}).import(batch(-3)); }), "");
}

TEST(OnnxDimensions, BadExtents) {
  ImportOptions options = batch(2);
  options.dimensions["past"] = -1;
  EXPECT_NE(error_of([&] {
              relu({2, "past"}).import(options);
            }).find("--set-dim past: is -1"),
            std::string::npos);
  EXPECT_NE(error_of([] { relu({2, -4}).import(); }).find("has extent -4"), std::string::npos);
  const std::string huge = error_of([] { relu({2000000000, 2000000000, 2000000000}).import(); });
  EXPECT_NE(huge.find("too large"), std::string::npos) << huge;
}

TEST(OnnxDimensions, OneThatIsMinusOneIsUnknown) {
  const std::string error = error_of([] { relu({2, -1}).import(); });
  EXPECT_NE(error.find("give it with --set-dim x.1=N"), std::string::npos) << error;
}

// Made by exporters that were given no name: PyTorch's for lists of axes, and those of converters.
TEST(OnnxDimensions, NamesThatSayNothingAreTheBatchOnItsAxis) {
  for (const auto& [first, second] : {std::pair("batch", "mask_dynamic_axes_1"),
                                      std::pair("unk__6", "unk__7"), std::pair("?", "?")}) {
    ModelKit kit;
    kit.input("x", {first, 8}).input("mask", {second, 8}).output("y");
    kit.node("Mul", {"x", "mask"}, {"y"});
    EXPECT_EQ(tensor_named(kit.import(batch(3)), "y").shape, (Shape{3, 8})) << second;
  }
  ModelKit marks;
  marks.input("x", {"?", "?", 8}).output("y");
  marks.node("Relu", {"x"}, {"y"});
  EXPECT_NE(error_of([&] { marks.import(batch(3)); }).find("--set-dim x.1=N"), std::string::npos);
}

// A cache that holds nothing yet.
TEST(OnnxDimensions, AnExtentMayBeZero) {
  for (const Dim past : {Dim(0), Dim("past")}) {
    ModelKit kit;
    kit.input("x", {"batch", 4, 8}).input("cache", {"batch", past, 8}).output("y");
    kit.node("Concat", {"cache", "x"}, {"y"}).set("axis", 1);
    ImportOptions options = batch(2);
    if (std::holds_alternative<const char*>(past)) options.dimensions["past"] = 0;
    EXPECT_EQ(tensor_named(kit.import(options), "y").shape, (Shape{2, 4, 8}));
  }
  ImportOptions none;
  none.dimensions["batch"] = 0;
  EXPECT_NE(error_of([&] {
              relu({"batch", 5}).import(none);
            }).find("give a batch of at least 1"),
            std::string::npos);
}

TEST(OnnxDimensions, FixedBatchStays) {
  const Graph graph = relu({4, 5}).import();
  EXPECT_EQ(graph.batch(), 4);
  EXPECT_EQ(graph.ops()[OpId(0)].split, Splittability::Concat);
}

TEST(OnnxDimensions, FixedBatchIsChanged) {
  EXPECT_EQ(tensor_named(relu({4, 5}).import(batch(9)), "y").shape, (Shape{9, 5}));
}

// [4, 6] seen as `target`, with the batch of 4 changed to 8.
Shape rebatched(const std::vector<std::int64_t>& target) {
  ModelKit kit;
  kit.input("x", {4, 6}).output("y").constant("target", int64s(target));
  kit.node("Reshape", {"x", "target"}, {"y"});
  return tensor_named(kit.import(batch(8)), "y").shape;
}

TEST(OnnxDimensions, ReshapeWithTheFilesBatch) {
  EXPECT_EQ(rebatched({4, 2, 3}), (Shape{8, 2, 3}));
  EXPECT_EQ(rebatched({4, -1}), (Shape{8, 6}));
  EXPECT_EQ(rebatched({-1, 6}), (Shape{8, 6}));
  EXPECT_EQ(rebatched({0, 3, 2}), (Shape{8, 3, 2}));
  EXPECT_EQ(rebatched({24}), (Shape{48}));
  EXPECT_EQ(rebatched({-1, 3}), (Shape{16, 3}));
}

TEST(OnnxDimensions, BatchBuiltInTooDeeply) {
  ModelKit kit;
  kit.input("x", {4, 6}).output("y");
  std::vector<float> others(24);  // of each sample
  others[7] = 1;
  kit.node("Constant", {}, {"c"}).set("value", floats({4, 6}, others));
  kit.node("Add", {"x", "c"}, {"y"}).name("sum");
  EXPECT_EQ(kit.import().batch(), 4);
  const std::string error = error_of([&] { kit.import(batch(8)); });
  EXPECT_NE(error.find("op \"sum\" (Add): the file's own batch of 4 is built in here"),
            std::string::npos)
      << error;
}

TEST(OnnxDimensions, AllUnboundOnesAreToldAtOnce) {
  ModelKit kit = relu({"batch", "height", "width"});
  kit.input("z", {"batch", "width", "depth"}).output("u");
  kit.node("Relu", {"z"}, {"u"});
  EXPECT_EQ(error_of([&] { kit.import(batch(2)); }),
            "3 symbolic dimensions are not bound: \"height\" (of input \"x\"), \"width\" (of input "
            "\"x\"), \"depth\" (of input \"z\"); give --set-dim height=N --set-dim width=N "
            "--set-dim depth=N");
  ImportOptions options;
  options.dimensions = {{"height", 4}, {"depth", 5}};
  EXPECT_EQ(error_of([&] { kit.import(options); }),
            "the batch and the symbolic dimension \"width\" (of input \"x\") are not bound; give "
            "--batch N --set-dim width=N");
}

TEST(OnnxDimensions, TwoThatClashAreNamed) {
  ModelKit kit;
  kit.input("x", {"batch", "height", "width"}).input("z", {"batch", "depth", 3}).output("y");
  kit.node("MatMul", {"x", "z"}, {"y"});
  ImportOptions options = batch(2);
  options.dimensions = {{"height", 6}, {"width", 4}, {"depth", 5}};
  const std::string error = error_of([&] { kit.import(options); });
  EXPECT_NE(error.find("of \"depth\" = 5, \"height\" = 6, \"width\" = 4, give some other extents "
                       "that fit together"),
            std::string::npos)
      << error;
}

TEST(OnnxDimensions, AnOptionTellsDataFromParameters) {
  ModelKit kit;
  kit.input("x", {"batch", 4}).input("shift", {1, 4}).output("y");
  kit.node("Add", {"x", "shift"}, {"y"});
  ImportOptions options = batch(2);
  EXPECT_EQ(tensor_named(kit.import(options), "shift").role, TensorRole::Parameter);
  options.dimensions["shift"] = 0;
  EXPECT_EQ(tensor_named(kit.import(options), "shift").role, TensorRole::Input);
  options.dimensions["shift"] = 1;
  EXPECT_EQ(tensor_named(kit.import(options), "shift").role, TensorRole::Parameter);
  options.dimensions["shift"] = 2;
  EXPECT_EQ(error_of([&] { kit.import(options); }),
            "--set-dim shift: is 2; give 0 where the input is data, 1 where it is a parameter");
}

// What exporters compute for the file's batch and write down, where rows follow from the sample
// alone.
TEST(OnnxDimensions, MasksOfTheFilesBatchFollowAnother) {
  ModelKit kit;
  kit.input("x", {2, 2, 3, 3}).output("y").weight("bias", {1, 2, 3, 3});
  const std::vector<float> row = {0, -9, -9, 0, 0, -9, 0, 0, 0};
  std::vector<float> rows = row;
  rows.insert(rows.end(), row.begin(), row.end());
  kit.node("Constant", {}, {"mask"}).set("value", floats({2, 1, 3, 3}, rows));
  kit.node("Neg", {"bias"}, {"turned"});
  kit.node("Add", {"turned", "mask"}, {"both"});  // the bias is stretched
  kit.node("Add", {"x", "mask"}, {"masked"});     // the input followed
  kit.node("Mul", {"masked", "both"}, {"y"});
  const Graph graph = kit.import(batch(6));
  EXPECT_EQ(tensor_named(graph, "both").shape, (Shape{6, 2, 3, 3}));
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{6, 2, 3, 3}));
  EXPECT_EQ(tensor_named(graph, "y").batch, (BatchLayout{BatchKind::Batched, 0}));
}

TEST(OnnxDimensions, NumbersOfRowsOfTheFilesBatchFollowAnother) {
  const auto imported = [](const std::vector<std::int64_t>& first) {
    ModelKit kit;
    kit.input("x", {2, 4, 5}).input("last", {2}, onnx::TensorProto::INT64).output("y");
    kit.node("Relu", {"x"}, {"relu"});
    kit.node("Flatten", {"relu"}, {"rows"}).set("axis", 2);
    kit.node("Constant", {}, {"first"}).set("value", int64s(first));
    kit.node("Add", {"last", "first"}, {"index"});
    kit.node("Gather", {"rows", "index"}, {"y"}).set("axis", 0);
    return kit.import(batch(6));
  };
  const Graph graph = imported({0, 4});
  EXPECT_EQ(tensor_named(graph, "y").shape, (Shape{6, 5}));
  EXPECT_EQ(tensor_named(graph, "y").batch, (BatchLayout{BatchKind::Batched, 0}));
}

}  // namespace
}  // namespace strato::test
