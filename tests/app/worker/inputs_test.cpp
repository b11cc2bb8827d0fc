#include "app/worker/inputs.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/data/npy.h"
#include "core/graph/build/graph_builder.h"
#include "core/io/file.h"
#include "tests/app/worker/fakes.h"
#include "tests/core/store/temporary_folder.h"

namespace strato::worker {
namespace {

constexpr std::int64_t kSamples = 6;

// x [4, 2, 3] with a batch of 4, through a Relu.
Graph images_model() {
  GraphBuilder builder("images", 4);
  Tensor x, y;
  x.name = "x";
  x.role = TensorRole::Input;
  x.shape = y.shape = {4, 2, 3};
  y.name = "y";
  Op op;
  op.name = op.type = "Relu";
  op.inputs = {builder.add_tensor(std::move(x))};
  op.outputs = {builder.add_tensor(std::move(y))};
  builder.add_op(std::move(op));
  return std::move(builder).build();
}

class RankInputsTest : public ::testing::Test {
 protected:
  RankInputsTest() {
    std::vector<float> values(kSamples * 6);
    std::iota(values.begin(), values.end(), 0.0F);
    write_file(folder_ / "x.npy", npy_header(DataType::F32, {kSamples, 2, 3}) +
                                      std::string(reinterpret_cast<const char*>(values.data()),
                                                  values.size() * sizeof(float)));
    const BoundInputs bound = bind_inputs(graph_, {{"x", {folder_ / "x.npy", nullptr, 0}}});
    stage_inputs(folder_.path(), graph_, bound, check_inputs(graph_, bound));
  }
  std::vector<float> loaded(const Part& part, std::int64_t step) {
    RankProgram program;
    program.values.push_back({TensorId(0), part, true});
    FakeExecution execution(graph_, program);
    RankInputs(folder_.path(), graph_, program).load(step, execution);
    const auto values = execution.floats(0);
    return {values.begin(), values.end()};
  }
  // Of these samples all six numbers.
  static std::vector<float> samples(std::initializer_list<int> which) {
    std::vector<float> values;
    for (const int sample : which) {
      for (int i = 0; i < 6; ++i) values.push_back(static_cast<float>(sample * 6 + i));
    }
    return values;
  }
  TemporaryFolder folder_;
  Graph graph_ = images_model();
};

TEST_F(RankInputsTest, ARankTakesItsSamplesOfEachStepsBatch) {
  const Part shard = Part::samples(1, 3);
  EXPECT_EQ(loaded({}, 1), samples({0, 1, 2, 3}));
  EXPECT_EQ(loaded({}, 2), samples({4, 5, 0, 1}));
  EXPECT_EQ(loaded(shard, 1), samples({1, 2}));
  EXPECT_EQ(loaded(shard, 2), samples({5, 0}));
  EXPECT_EQ(loaded(shard, 3), samples({3, 4}));
}

TEST_F(RankInputsTest, ASliceIsCutOutOfTheWholeBatch) {
  const std::vector<float> part = loaded(Part::slice(2, 1, 3), 1);
  ASSERT_EQ(part.size(), 16u);
  EXPECT_EQ(std::vector<float>(part.begin(), part.begin() + 4), (std::vector<float>{1, 2, 4, 5}));
  EXPECT_EQ(part.back(), 23);
}

}  // namespace
}  // namespace strato::worker
