// A model with a dimension that has no extent is asked for, and what was being opened goes on with
// it.
#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/views/models/fixture.h"
#include "tests/views/models/tiny_planners.h"
#include "views/models/problem_source.h"

namespace strato {
namespace {

// The few fields of ONNX's messages that a matrix product needs, as protobuf writes them.
std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}
std::string bytes(int field, const std::string& content) {
  std::string result{static_cast<char>(field << 3 | 2)};
  std::size_t size = content.size();
  for (; size > 127; size >>= 7) result += static_cast<char>((size & 127) | 128);
  return result + static_cast<char>(size) + content;
}
std::string tensor(const char* name, std::initializer_list<std::string> dimensions) {
  std::string shape;
  for (const std::string& dimension : dimensions) shape += bytes(1, dimension);
  return bytes(1, name) + bytes(2, bytes(1, number(1, 1) + bytes(2, shape)));
}

// y[batch, length, 4] = x[batch, length, 4] * w[4, 4]
std::string onnx_with_length() {
  const std::string batch = bytes(2, "batch"), length = bytes(2, "length"), four = number(1, 4);
  const std::string node =
      bytes(1, "x") + bytes(1, "w") + bytes(2, "y") + bytes(3, "product") + bytes(4, "MatMul");
  const std::string w = number(1, 4) + number(1, 4) + number(2, 1) + bytes(8, "w") +
                        bytes(9, std::string(4 * 4 * sizeof(float), '\0'));
  const std::string graph = bytes(1, node) + bytes(2, "toy") + bytes(5, w) +
                            bytes(11, tensor("x", {batch, length, four})) +
                            bytes(12, tensor("y", {batch, length, four}));
  return number(1, 8) + bytes(7, graph) + bytes(8, number(2, 17));
}

class Dimensions : public SessionTest {
 protected:
  Dimensions() {
    model_ = folder_.filePath("toy.onnx").toStdString();
    write_file(model_, onnx_with_length());
    session_.open_cluster(sample("clusters/tag-2x1080ti.json"));
  }
  void ask() {
    QObject::connect(&session_, &Session::dimension_wanted,
                     [this](const WantedDimension& wanted) { wanted_ = wanted; });
  }
  void open_model() {
    ImportOptions import;
    import.batch = 8;
    session_.open_model(model_, import, {});
    session_.settle();
  }
  void answer(std::int64_t extent) {
    ASSERT_TRUE(wanted_) << failures_.join('\n').toStdString();
    const auto open = wanted_->open;
    wanted_.reset();
    open(extent);
    session_.settle();
    ASSERT_TRUE(session_.snapshot().problem) << failures_.join('\n').toStdString();
  }

  std::filesystem::path model_;
  std::optional<WantedDimension> wanted_;
};

TEST_F(Dimensions, OfAModelAreAskedFor) {
  ask();
  open_model();
  ASSERT_TRUE(wanted_) << failures_.join('\n').toStdString();
  EXPECT_EQ(wanted_->file.toStdString(), model_.string());
  EXPECT_EQ(wanted_->input, "x");
  EXPECT_EQ(wanted_->name, "length");
  EXPECT_EQ(wanted_->axis, 1);
  EXPECT_FALSE(session_.busy());
  ASSERT_NO_FATAL_FAILURE(answer(32));
  EXPECT_FALSE(wanted_);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(problem().graph->batch(), 8);
  EXPECT_EQ(session_.model_source()->import.dimensions.at("length"), 32);
}

TEST_F(Dimensions, AreAnErrorWhereNobodyIsAsked) {
  open_model();
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_TRUE(failures_.front().contains("--set-dim length=N")) << failures_.front().toStdString();
}

// The plan, not its model alone, is opened with the answer.
TEST_F(Dimensions, OfAPlanAreAskedForAndItsStrategyIsShown) {
  ask();
  open_model();
  ASSERT_NO_FATAL_FAILURE(answer(32));
  session_.edit(all_on(problem(), 1), "alone");
  session_.settle();
  const Strategy alone = session_.snapshot().strategy;
  const std::filesystem::path file = folder_.filePath("alone.plan.json").toStdString();
  session_.export_plan(file);
  session_.settle();
  std::string text = read_file(file);
  const auto at = text.find("\"dimensions\"");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 12, "\"unknown\"");  // as an older version, which did not note them
  write_file(file, text);
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  session_.open_plan(file);
  session_.settle();
  ASSERT_NO_FATAL_FAILURE(answer(32));
  EXPECT_EQ(session_.model_name(), "toy");
  EXPECT_EQ(session_.snapshot().label, "alone.plan");
  EXPECT_EQ(session_.snapshot().strategy.groups, alone.groups);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// An answer, and a question, about what is not wanted any more.
TEST_F(Dimensions, OfWhatWasOpenedBeforeAnotherAreNotAskedFor) {
  ask();
  open_model();
  ASSERT_TRUE(wanted_);
  const auto late = wanted_->open;
  ASSERT_NO_FATAL_FAILURE(open_lenet());
  const std::string lenet = session_.model_name().toStdString();
  late(32);
  session_.settle();
  EXPECT_EQ(session_.model_name().toStdString(), lenet);

  wanted_.reset();
  ImportOptions import;
  import.batch = 8;
  session_.open_model(model_, import, {});
  session_.open_model(sample("models/lenet.onnx"), import, {});
  session_.settle();
  EXPECT_FALSE(wanted_);
  EXPECT_EQ(session_.model_name().toStdString(), lenet);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// What else is opened meanwhile does not answer it: a cluster, a profile.
TEST_F(Dimensions, AreStillWantedWhereAnotherClusterWasOpened) {
  ask();
  open_model();
  ASSERT_TRUE(wanted_);
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  session_.settle();
  ASSERT_NO_FATAL_FAILURE(answer(32));
  EXPECT_EQ(session_.model_name(), "toy");
}

// Another precision is another import, which keeps what was bound; plans remember it.
TEST_F(Dimensions, StayWhereTheModelIsTrainedInAnotherPrecision) {
  ask();
  open_model();
  answer(12);
  ImportOptions import = session_.model_source()->import;
  import.precision = DataType::BF16;
  session_.reopen_model(import, *session_.problem_options());
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(session_.model_source()->import.dimensions.at("length"), 12);
  const auto type_of = [this](std::string_view name) {
    for (const Tensor& tensor : problem().graph->tensors())
      if (tensor.name == name) return tensor.type;
    return DataType::Bool;
  };
  EXPECT_EQ(type_of("w"), DataType::F32);
  EXPECT_EQ(type_of("w/cast"), DataType::BF16);
  EXPECT_EQ(type_of("y"), DataType::BF16);
  const std::filesystem::path plan = folder_.filePath("plan.json").toStdString();
  session_.export_plan(plan);
  session_.settle();
  EXPECT_EQ(Json::parse(read_file(plan))["result"]["precision"], "bfloat16");
}

}  // namespace
}  // namespace strato
