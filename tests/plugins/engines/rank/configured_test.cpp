// Small models of families that config.json describes: a plan trains them as one device does.
#include <cmath>

#include "tests/plugins/engines/rank/compared_run.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/engines/torch/small_model.h"
#include "tests/plugins/importers/transformers/config_kit.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

std::shared_ptr<const Graph> configured_graph(const std::string& family, Optimizer optimizer) {
  const Graph forward = with_numbers(test::import_small(family), DataType::F64);
  return std::make_shared<const Graph>(make_training_graph(forward, optimizer));
}

// Synchronised replicas; whatever strategy; and meshes: shared, in micro-batches, with experts
// among their rows where there are experts, and with ops that are computed again.
Strategy configured_strategy(const RandomProblem& problem, int i, Random& random) {
  i %= 5;
  if (i == 0) return any_synchronisation(problem, random);
  if (i == 1) return any_strategy(problem, random);
  Strategy strategy = on_meshes(problem, random);
  if (i == 2) return with_shared_states(problem, strategy, random, 3);
  if (i == 3) return in_micro_batches(problem, strategy, random);
  if (const auto divided = with_experts(problem, strategy, random)) strategy = *divided;
  strategy.recomputed = random_recomputed(*problem.graph, random);
  return strategy;
}

class ConfiguredRuns : public testing::TestWithParam<std::string> {};

TEST_P(ConfiguredRuns, AreTrainedAsOnOneDevice) {
  const auto graph = configured_graph(GetParam(), Optimizer::Momentum);
  const Reference reference(graph);
  // Of 32 words, before anything is learned: about as good as any guess.
  const double classes = GetParam() == "vit" ? 5 : GetParam() == "roberta" ? 2 : 32;
  EXPECT_NEAR(reference.loss, std::log(classes), 2);
  Random random(7);
  const bool more = GetParam() == "llama" || GetParam() == "deepseek_v3" || GetParam() == "gpt2";
  for (int i = 0; i < (more ? 15 : 5); ++i) {
    SCOPED_TRACE("strategy " + std::to_string(i));
    const RandomProblem problem = problem_of(graph, random);
    run_and_compare(problem, configured_strategy(problem, i, random), reference, random);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ConfiguredRuns, testing::ValuesIn(test::family_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace strato
