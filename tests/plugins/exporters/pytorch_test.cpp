// The exported folder under torchrun: parameters after three steps are those of the project's own
// engine on one device.
#ifdef STRATO_TORCH
#include "core/strategy/value/variable_check.h"
#include "tests/plugins/engines/rank/small_nets.h"
#include "tests/plugins/engines/torch/gradient_cases.h"
#include "tests/plugins/exporters/pytorch_kit.h"
#include "tests/plugins/importers/transformers/config_kit.h"
#include "tests/property/random_model.h"

namespace strato {
namespace {

namespace fs = std::filesystem;

TEST_F(Pytorch, EveryOpIsComputedAsByTheEngine) {
  Random random(1);
  for (const auto cases : {products_cases, windows_cases, elementwise_cases, normalizations_cases,
                           attention_cases, expert_cases, movement_cases, losses_cases}) {
    for (const GradientCase& each : cases()) {
      SmallModel model;
      each.result(model);
      const RandomProblem problem = on_toy_cluster(std::move(model).training(), 1, 0, random);
      Strategy strategy;
      strategy.groups.assign(problem.grouping->size(), decision_on_device(DeviceId(0)));
      ASSERT_TRUE(add(problem, strategy, 1, each.name));
    }
  }
  ASSERT_GT(runs_.size(), 100u);
  train_and_compare(1);
}

class PytorchRanks : public Pytorch, public testing::WithParamInterface<int> {
 protected:
  void add_random(const std::shared_ptr<const Graph>& graph, const std::string& name,
                  Random& random) {
    add_some(GetParam(), name, [&] {
      RandomProblem problem = on_toy_cluster(graph, 2, GetParam() - 2, random);
      Strategy strategy = any_strategy(problem, random);
      return std::pair(std::move(problem), std::move(strategy));
    });
  }
};

TEST_P(PytorchRanks, TrainAsOneDeviceDoesUnderAnyStrategy) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  for (const Optimizer optimizer : {Optimizer::Sgd, Optimizer::Momentum, Optimizer::Adam}) {
    for (const SmallNet& net : small_nets(7, optimizer)) {
      add_random(net.graph, net.name, random);
    }
  }
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    Random own(seed);
    const RandomProblem problem = random_model_problem(own);
    add_random(std::make_shared<const Graph>(in_double(*problem.graph)),
               "seed " + std::to_string(seed), random);
  }
  ASSERT_GT(runs_.size(), 20u);
  train_and_compare(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Processes, PytorchRanks, testing::Values(2, 4));

// How far apart all parameters of F32 are, in the Euclidean norm.
double distance(const std::map<std::string, std::string>& a,
                const std::map<std::string, std::string>& b) {
  double sum = 0;
  for (const auto& [name, bytes] : a) {
    const std::vector<float> left = numbers<float>(bytes), right = numbers<float>(b.at(name));
    for (std::size_t i = 0; i < left.size(); ++i)
      sum += std::pow(static_cast<double>(left[i]) - static_cast<double>(right[i]), 2);
  }
  return std::sqrt(sum);
}

// Collectives, too, move what has 16 bits: of meshes whose rows share parameters. Rounding is a
// fifth of the way that T5 goes here, and as far is one device of 16 bits from one of 32.
TEST_F(Pytorch, ConfiguredFamiliesAreTrainedInSixteenBits) {
  Random random(11);
  std::size_t stage = 0;
  for (const char* family : {"bloom", "deepseek_v3", "gemma2", "gpt2", "qwen2_moe", "t5", "vit"}) {
    const Graph forward = test::import_small(family, {{"torch_dtype", "bfloat16"}});
    const auto graph =
        std::make_shared<const Graph>(make_training_graph(forward, Optimizer::Momentum));
    const auto shared = static_cast<std::int32_t>(1 + stage++ % 3);
    add_some(2, family, [&] {
      RandomProblem problem = on_toy_cluster(graph, 2, 0, random);
      Strategy strategy = with_shared_states(problem, on_meshes(problem, random), random, shared);
      return std::pair(std::move(problem), std::move(strategy));
    });
  }
  train(2);
  if (HasFailure()) return;
  for (const Trained& run : runs_) {
    const auto start = reference_of(run.graph, 0), expected = reference_of(run.graph);
    EXPECT_LE(distance(kept_by(run), expected), 0.3 * distance(expected, start)) << run.name;
  }
}

// What a person does: the folder's own program, under torchrun, in single precision.
TEST_F(Pytorch, TheFolderRunsByItself) {
  const Exportable plan =
      lenet(Mode::ReplicateAllReduce,
            {{DeviceId(0), 1}, {DeviceId(1), 1}, {DeviceId(2), 1}, {DeviceId(3), 1}});
  const fs::path folder = folder_ / "lenet";
  write_export(*registry().exporter("pytorch"), plan.input(), folder);
  torchrun(4,
           {folder / "train.py", "--steps", "3", "--seed", "5", "--learning-rate", "0.02", "--keep",
            folder.string() + ".kept"},
           folder_);
  if (HasFailure()) return;
  EXPECT_NE(read_file(folder_ / "said").find("step 3: loss "), std::string::npos);
  const std::string unpack =
      "import torch, json, sys\n"
      "values = torch.load(sys.argv[1] + '/parameters.pt')\n"
      "json.dump(list(values), open(sys.argv[1] + '/names.json', 'w'))\n"
      "for i, value in enumerate(values.values()):\n"
      "    open(f'{sys.argv[1]}/{i}.bin', 'wb').write(value.numpy().tobytes())\n";
  ASSERT_EQ(run_program({python(), "-c", unpack, folder.string() + ".kept"}, folder_ / "said"), 0)
      << read_file(folder_ / "said");
  expect_trained({plan.problem.graph, "lenet", folder});
}

// Factors of products travel as duplicated ops do, which the folder can.
TEST_F(Pytorch, WhatItsRanksCannotDoIsRefused) {
  const Exportable plain = lenet(Mode::ReplicateAllReduce, {{DeviceId(0), 1}, {DeviceId(1), 1}});
  const Graph& graph = *plain.problem.graph;
  VariableSync variable;
  for (std::size_t i = 0; i < graph.op_count(); ++i)
    if (!gradient_products(graph, OpId(i)).empty()) variable.update = OpId(i);
  ASSERT_TRUE(variable.update.valid());
  const auto problem = [&](Synchroniser synchroniser, Encoding encoding, int staleness) {
    Strategy strategy = plain.strategy;
    SyncPart part{synchroniser, encoding, {}, {}, -1, {}};
    if (synchroniser == Synchroniser::Ps) part.server = DeviceId(1);
    strategy.variables = {{variable.update, 0, {part}, staleness}};
    try {
      exported_folder("pytorch", Exportable(plain.problem, strategy));
    } catch (const InputError& error) {
      return error.problem();
    }
    return std::string("no error");
  };
  const std::string refused = "is synchronised encoded or stale, which train.py cannot do";
  EXPECT_EQ(problem(Synchroniser::Ps, Encoding::None, 0), "no error");
  EXPECT_EQ(problem(Synchroniser::Ps, Encoding::None, 1), refused);
  EXPECT_EQ(problem(Synchroniser::Ps, Encoding::None, 2), refused);
  EXPECT_EQ(problem(Synchroniser::AllReduce, Encoding::LowRank, 0), refused);
  EXPECT_EQ(problem(Synchroniser::AllReduce, Encoding::SufficientFactors, 0), "no error");
}

TEST_F(Pytorch, AWrongNumberOfProcessesIsRefused) {
  const Exportable plan = lenet(Mode::ModelParallel, {{DeviceId(0), 1}, {DeviceId(1), 1}});
  const fs::path folder = folder_ / "lenet";
  write_export(*registry().exporter("pytorch"), plan.input(), folder);
  EXPECT_NE(run_program({python(), folder / "train.py"}, folder_ / "said"), 0);
  EXPECT_NE(read_file(folder_ / "said").find("torchrun"), std::string::npos);
}

}  // namespace
}  // namespace strato
#endif
