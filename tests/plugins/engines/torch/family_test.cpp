// Every family that config.json describes is trained by the engine, in the types that such models
// are trained in.
#include "core/graph/train/training_graph.h"
#include "tests/plugins/engines/torch/small_model.h"
#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato {
namespace {

std::shared_ptr<const Graph> family_graph(const std::string& family, const char* type) {
  return std::make_shared<const Graph>(make_training_graph(
      test::import_small(family, {{"torch_dtype", type}}), Optimizer::Momentum));
}

double real_of(const std::string& bytes, DataType type) {
  if (type == DataType::F32) return numbers<float>(bytes).at(0);
  const std::uint32_t bits = std::uint32_t{numbers<std::uint16_t>(bytes).at(0)} << 16;  // of BF16
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Of each step.
std::vector<double> losses_of(const std::shared_ptr<const Graph>& graph, int steps) {
  const auto execution = prepared(graph, 0.05);
  const TensorId loss = loss_of(*graph);
  execution->keep(loss);
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    execution->run_step();
    losses.push_back(real_of(execution->read(loss), graph->tensor(loss).type));
  }
  return losses;
}

class Families : public testing::TestWithParam<std::string> {};

// By heart, as the engine gives each step the same samples; and 16 bits begin where 32 do.
TEST_P(Families, LearnInBothTypes) {
  constexpr int kSteps = 30;
  std::vector<double> first;
  for (const char* type : {"float32", "bfloat16"}) {
    SCOPED_TRACE(type);
    const std::vector<double> losses = losses_of(family_graph(GetParam(), type), kSteps);
    first.push_back(losses.front());
    EXPECT_GT(losses.front(), 0.5);
    EXPECT_LT(losses.back(), 0.8 * losses.front());
  }
  EXPECT_NEAR(first[1], first[0], 0.02 * first[0]);
}

// Gemma 2's scores are capped, in one op or written out; without the cap its losses are others.
TEST(CappedAttention, IsWhatItIsWrittenOut) {
  const auto losses = [](double cap, std::int64_t fused) {
    Json config = test::small_configs().at("gemma2");
    config.update({{"attn_logit_softcapping", cap}, {"query_pre_attn_scalar", 1}});
    ImportOptions options = test::small_batch();
    options.dimensions["flash"] = fused;
    return losses_of(std::make_shared<const Graph>(make_training_graph(
                         test::import_text(config.dump(), options), Optimizer::Momentum)),
                     4);
  };
  const auto capped = losses(0.2, 1), written_out = losses(0.2, 0), free = losses(0, 1);
  for (std::size_t i = 0; i < capped.size(); ++i) {
    EXPECT_NEAR(capped[i], written_out[i], 1e-4) << i;
  }
  EXPECT_GT(std::abs(capped.front() - free.front()), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Configured, Families, testing::ValuesIn(test::family_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace strato
