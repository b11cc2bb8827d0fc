// Small models of families that config.json describes: they run, and a plan trains them as one
// device does.
#include <cmath>

#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/engines/rank/staged_run.h"
#include "tests/plugins/engines/torch/small_model.h"
#include "tests/plugins/importers/transformers/config_kit.h"

namespace strato {
namespace {

double loss_of(InProcessRun& run) {
  double sum = 0;
  for (std::size_t r = 0; r < run.programs().ranks.size(); ++r)
    sum += run.rank(r).loss().value_or(0);
  return sum;
}

class ConfiguredRuns : public testing::TestWithParam<std::string> {};

TEST_P(ConfiguredRuns, AreTrainedAsOnOneDevice) {
  const Graph forward = with_numbers(test::import_small(GetParam()), DataType::F64);
  const auto graph =
      std::make_shared<const Graph>(make_training_graph(forward, Optimizer::Momentum));
  const Reference reference(graph);
  // Of 32 words, before anything is learned: about as good as any guess.
  EXPECT_NEAR(reference.loss, std::log(32.0), 2);
  Random random(7);
  for (int i = 0; i < 2; ++i) {
    const RandomProblem problem = problem_of(graph, random);
    const Strategy strategy =
        i == 0 ? any_synchronisation(problem, random) : any_strategy(problem, random);
    EXPECT_NEAR(loss_of(*staged_run(problem, strategy, random, kSteps)), reference.loss, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ConfiguredRuns,
                         testing::Values("llama", "qwen3", "gpt2", "gptj", "mixtral", "qwen2_moe",
                                         "deepseek_v2", "deepseek_v3", "bloom", "t5"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace strato
